"""What is allocated at a moment, for leak checks."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import acl

from .process import living_buffers

__all__ = ["Snapshot", "snapshot"]


class Snapshot(NamedTuple):
    """What is allocated: blocks and bytes."""

    #: Buffers of this package that are open: (class, device) -> (blocks, bytes).
    buffers: dict[tuple[str, int], tuple[int, int]]
    #: All memory of the process: (device, family) -> (blocks, bytes). Host memory has the device -1.
    #: Only Cannery's library tells it; with another one it is None.
    families: dict[tuple[int, str], tuple[int, int]] | None

    @property
    def blocks(self) -> int:
        """Blocks: of the whole process where that is known, else of this package."""
        return sum(blocks for blocks, _bytes in self._known.values())

    @property
    def nbytes(self) -> int:
        """Bytes, likewise."""
        return sum(size for _blocks, size in self._known.values())

    @property
    def _known(self) -> dict[Any, tuple[int, int]]:
        return self.buffers if self.families is None else self.families

    def grown_since(self, before: Snapshot) -> list[str]:
        """What there is more of than before, one line each. Bytes are as the device charges them.

        >>> from cannery import DeviceBuffer, session
        >>> with session():
        ...     before = snapshot()
        ...     forgotten = DeviceBuffer(4096)
        ...     print(*snapshot().grown_since(before))
        aclrtMalloc on device 0: 1 block, 4160 bytes more
        """
        lines = []
        former = before._known
        for key, (blocks, size) in sorted(self._known.items()):
            had_blocks, had_size = former.get(key, (0, 0))
            if size <= had_size and blocks <= had_blocks:
                continue
            device, what = (key[1], key[0]) if self.families is None else key
            place = "on the host" if device < 0 else f"on device {device}"
            more = blocks - had_blocks
            lines.append(f"{what} {place}: {more} block{'' if more == 1 else 's'}, {size - had_size} bytes more")
        return lines


def snapshot() -> Snapshot:
    """What is allocated now. Taken without stopping other threads."""
    buffers: dict[tuple[str, int], tuple[int, int]] = {}
    for buffer in living_buffers():
        key = (type(buffer).__name__, buffer.device)
        blocks, total = buffers.get(key, (0, 0))
        buffers[key] = (blocks + 1, total + buffer.nbytes)
    return Snapshot(buffers, _families())


def statistics() -> dict[str, Any] | None:
    """The counts of Cannery's library; None with another one."""
    path = getattr(acl, "__libascendcl__", None)
    if not path:
        return None
    try:
        count = ctypes.CDLL(path).cannery_stats
    except (OSError, AttributeError):
        return None
    # Only here: most programs never ask, and all would pay at the import.
    import json

    needed = ctypes.c_size_t()
    if count(None, ctypes.c_size_t(0), ctypes.byref(needed)):
        return None
    # Another thread may make the text longer meanwhile.
    while True:
        room = ctypes.create_string_buffer(needed.value + 1024)
        if count(room, ctypes.c_size_t(len(room)), ctypes.byref(needed)):
            return None
        if needed.value <= len(room):
            answer: dict[str, Any] = json.loads(room.value)
            return answer


def _families() -> dict[tuple[int, str], tuple[int, int]] | None:
    counts = statistics()
    if counts is None:
        return None
    found = {}
    places = [(entry["device"], entry["families"]) for entry in counts["devices"] or ()]
    # Null until there was some.
    host = counts["host"] or {"families": {}}
    places.append((-1, host["families"]))
    for device, families in places:
        for family, numbers in families.items():
            if numbers["blocks"]:
                found[device, family] = (numbers["blocks"], numbers["bytes"])
    return found
