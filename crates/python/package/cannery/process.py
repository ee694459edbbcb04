"""The runtime of the process, its devices and contexts."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import acl

from .enums import MemAttr, MemLocationType, RunMode
from .errors import AclError, Single, UseAfterFree, check, end, fail, lose, patiently

if TYPE_CHECKING:
    from .ranges import Root

__all__ = ["Context", "Device", "MemoryInfo", "Process", "device_count", "memory_info", "run_mode", "session"]

# The open buffers, by address: what `snapshot` tells on any library, and who must know when a device takes its
# memory back.
open_buffers: dict[int, weakref.ref[Root]] = {}


def living_buffers() -> list[Root]:
    """The open buffers; without those that are just being dropped."""
    return [buffer for buffer in [known() for known in list(open_buffers.values())] if buffer is not None]


_REPEATED = 100002


def forget_if_gone(device: int) -> None:
    """After a reset, the end of a context or of the runtime: tells the buffers whose memory went with it.

    A device keeps its memory as long as anybody, such as an explicit context, holds it. Host memory outlives
    its devices.
    """
    for buffer in living_buffers():
        address = buffer._address
        if buffer.device == device and address and _is_gone(device, address):
            forget(address)


def forget(address: int) -> None:
    """Tells a buffer that its memory is gone: the address may belong to somebody else by now."""
    known = open_buffers.pop(address, None)
    buffer = known() if known is not None else None
    if buffer is not None:
        buffer.lost()


def _is_gone(device: int, address: int) -> bool:
    """Whether an address that was a buffer of the device is none any more."""
    attributes, code = acl.rt.pointer_get_attributes(address)
    if code == 0:
        return bool(attributes["location"]["type"] != MemLocationType.DEVICE)
    acl.get_recent_err_msg()
    active, _flags, code = acl.rt.get_primary_ctx_state(device)
    if code != 0:
        acl.get_recent_err_msg()
    return code == 0 and not active


def devices_in_use() -> set[int]:
    """The devices of the open buffers."""
    return {buffer.device for buffer in living_buffers() if buffer.device >= 0}


class Process:
    """The runtime of this process, from ``acl.init`` to ``acl.finalize``.

    Nests: the runtime ends with the outermost block, and one that somebody else started stays.

    >>> with Process() as process:
    ...     with Process():
    ...         process.is_open
    True
    """

    __slots__ = ("_config", "_owner", "is_open")

    def __init__(self, config: str | None = None) -> None:
        self._config = config
        self._owner = False
        #: Whether this object holds the runtime.
        self.is_open = False

    def open(self) -> Process:
        """Starts the runtime, or counts one more user of it."""
        if not self.is_open:
            code = acl.init() if self._config is None else acl.init(self._config)
            if code not in (0, _REPEATED):
                fail("acl.init", code)
            if code == _REPEATED:
                acl.get_recent_err_msg()
            self._owner = code == 0
            self.is_open = True
        return self

    def close(self) -> None:
        """Ends the runtime, or counts one user less. May be called twice."""
        if not self.is_open:
            return
        self.is_open = False
        if hasattr(acl, "finalize_reference"):
            count, code = acl.finalize_reference()
            check("acl.finalize_reference", code)
            ended = count == 0
        else:
            ended = self._owner
            if ended:
                check("acl.finalize", acl.finalize())
        if ended:
            for device in devices_in_use():
                forget_if_gone(device)

    def __enter__(self) -> Process:
        return self.open()

    def __exit__(self, *error: object) -> None:
        end(self.close, error[0])


class Device:
    """A device, current in this thread inside a ``with`` block.

    >>> with Process(), Device(0) as device:
    ...     device.id, Device.current() == device
    (0, True)
    """

    __slots__ = ("_held", "id")

    def __init__(self, device_id: int = 0) -> None:
        #: The number of the device.
        self.id = device_id
        self._held = 0

    def __index__(self) -> int:
        return self.id

    @classmethod
    def current(cls) -> Device:
        """The device of this thread. Raises ``NoContext`` where there is none."""
        return cls(current_device())

    def open(self) -> Device:
        """Makes it the device of this thread, and holds one more reference to it."""
        check("acl.rt.set_device", acl.rt.set_device(self.id), device=self.id)
        self._held += 1
        return self

    def close(self) -> None:
        """Gives back one reference; the last one of the process takes all memory of the device back."""
        if self._held:
            self._held -= 1
            check("acl.rt.reset_device", acl.rt.reset_device(self.id), device=self.id)
            forget_if_gone(self.id)

    def reset(self) -> None:
        """Takes everything of the device back at once, whoever holds it (``reset_device_force``)."""
        code = acl.rt.reset_device_force(self.id)
        check("acl.rt.reset_device_force", code, device=self.id)
        self._held = 0
        forget_if_gone(self.id)

    def synchronize(self, timeout_ms: int = -1) -> None:
        """Waits for all work of the device. It must be the current one. Milliseconds, -1 for ever."""
        code = patiently(acl.rt.synchronize_device_with_timeout, timeout_ms)
        check("acl.rt.synchronize_device_with_timeout", code, timeout_ms=timeout_ms)

    def __enter__(self) -> Device:
        return self.open()

    def __exit__(self, *error: object) -> None:
        end(self.close, error[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash((Device, self.id))

    def __repr__(self) -> str:
        return f"Device({self.id})"


class Context(Single):
    """A context of a device. In a ``with`` block it is the current one; it ends with the block.

    >>> with session() as device:
    ...     with Context(device) as context:
    ...         Context.current() == context
    ...     Context.current() == context
    True
    False
    """

    __slots__ = ("_owned", "_previous", "device", "handle")

    def __init__(self, device: Device | int = 0) -> None:
        #: The number of its device.
        self.device = device.id if isinstance(device, Device) else device
        self._previous: list[int] = []
        self._owned = False
        #: The handle, for functions of ``acl``; 0 while it is not open.
        self.handle = 0

    @classmethod
    def current(cls) -> Context:
        """The current context of this thread; closing the answer does not end it."""
        context = cls(current_device())
        context.handle = current_context()
        return context

    def __index__(self) -> int:
        if not self.handle:
            step = "use it inside its `with` block"
            raise UseAfterFree(f"the context is not open: {step}", remedy=step)
        return self.handle

    def open(self) -> Context:
        """Creates it. It becomes current for this thread."""
        if not self.handle:
            handle, code = acl.rt.create_context(self.device)
            check("acl.rt.create_context", code, device=self.device)
            self.handle = handle
            self._owned = True
        return self

    def close(self) -> None:
        """Destroys it, if it was created here. May be called twice."""
        handle, self.handle = self.handle, 0
        if handle and self._owned:
            self._owned = False
            check("acl.rt.destroy_context", acl.rt.destroy_context(handle))
            forget_if_gone(self.device)

    @contextmanager
    def use(self) -> Iterator[Context]:
        """Makes it current in this thread for a block; afterwards the former one is again."""
        handle = self.__index__()
        before = _context_or_zero()
        check("acl.rt.set_context", acl.rt.set_context(handle))
        try:
            yield self
        finally:
            _back_to(before)

    def __enter__(self) -> Context:
        before = _context_or_zero()
        if self.handle:
            check("acl.rt.set_context", acl.rt.set_context(self.handle))
        else:
            self.open()
        self._previous.append(before)
        return self

    def __exit__(self, *error: object) -> None:
        before = self._previous.pop()
        if not self._previous:
            end(self.close, error[0])
        _back_to(before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.handle == self.handle != 0

    def __hash__(self) -> int:
        return hash((Context, self.handle))

    def __repr__(self) -> str:
        return f"<Context {self.handle:#x} of device {self.device}>" if self.handle else "<Context, closed>"


def _back_to(context: int) -> None:
    """Makes a former context current again, if there was one and it lives."""
    if context:
        code = acl.rt.set_context(context)
        if code != 0:
            lose(AclError("the former context is gone", code=code, api="acl.rt.set_context"))


def _context_or_zero() -> int:
    """The current context of this thread, or 0."""
    context, code = acl.rt.get_context()
    if code != 0:
        acl.get_recent_err_msg()
        return 0
    return context


def current_context() -> int:
    """The handle of the current context."""
    context, code = acl.rt.get_context()
    check("acl.rt.get_context", code)
    return context


def current_device() -> int:
    """The number of this thread's device."""
    device, code = acl.rt.get_device()
    if code != 0:
        fail("acl.rt.get_device", code)
    return device


def device_count() -> int:
    """How many devices there are.

    >>> with Process():
    ...     device_count() >= 1
    True
    """
    count, code = acl.rt.get_device_count()
    check("acl.rt.get_device_count", code)
    return count


def run_mode() -> RunMode:
    """On which side this program runs: HOST where the device has its own memory.

    >>> with session():
    ...     run_mode().name
    'HOST'
    """
    mode, code = acl.rt.get_run_mode()
    check("acl.rt.get_run_mode", code)
    return RunMode(mode)


class MemoryInfo(NamedTuple):
    """Bytes of one kind of memory of the current device."""

    free: int
    total: int

    @property
    def used(self) -> int:
        """Bytes in use, those of other processes included."""
        return self.total - self.free


def memory_info(kind: MemAttr = MemAttr.HBM_MEM) -> MemoryInfo:
    """Free and total bytes of the current device.

    >>> with session():
    ...     info = memory_info(MemAttr.HBM_MEM_HUGE)
    >>> 0 < info.free <= info.total
    True
    """
    free, total, code = acl.rt.get_mem_info(kind)
    if code != 0:
        fail("acl.rt.get_mem_info", code, kind=int(kind))
    return MemoryInfo(free, total)


@contextmanager
def session(device: int = 0, config: str | None = None) -> Iterator[Device]:
    """The runtime and one device, for a block: what most programs begin with.

    >>> with session(0) as device:
    ...     print(device)
    Device(0)
    """
    with Process(config), Device(device) as opened:
        yield opened
