"""Memory that the program owns: on the device, cached on the device, pinned on the host."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, TypeVar

import acl

from .enums import MallocPolicy
from .errors import OutOfRange, StillViewed, UseAfterFree, WrongDevice, drop, end, error_of
from .host import HostData, source_of
from .process import forget, open_buffers
from .ranges import Memory, Root, bounds

if TYPE_CHECKING:
    from .stream import Flight, Stream

__all__ = ["CachedBuffer", "DeviceBuffer", "DeviceSlice", "PinnedBuffer", "PinnedSlice"]

_B = TypeVar("_B", bound="_Buffer")

_malloc = acl.rt.malloc
_free = acl.rt.free
_malloc_host = acl.rt.malloc_host
_free_host = acl.rt.free_host
_get_device = acl.rt.get_device
_ref = weakref.ref

HUGE_FIRST = int(MallocPolicy.HUGE_FIRST)

# What `acl` does not see of a size: it takes the lowest 64 bits of any number.
_MOST = (1 << 64) - 1


def _checked(nbytes: int) -> int:
    """A size as Python's own whole number."""
    nbytes = int(index(nbytes))
    if 0 <= nbytes <= _MOST:
        return nbytes
    raise OutOfRange(
        f"a size is from 1 to {_MOST} bytes, not {nbytes}",
        numbers={"asked": nbytes},
        remedy="allocate at least 1 byte, and no more than the device has (memory_info)",
    )


class _Buffer(Root):
    """What owns memory: closed by hand, by a ``with`` block, or when the last reference goes."""

    __slots__ = ("__weakref__", "_is_lost", "_offset", "nbytes")

    # Set when a reset of the device took the memory, else missing.
    _is_lost: bool
    _release: Callable[[int], int]
    _release_name: str

    def __init__(self, nbytes: int) -> None:
        raise NotImplementedError(f"{type(self).__name__} allocates nothing")

    @property
    def address(self) -> int:
        """The first byte, for functions of ``acl``. Raises ``UseAfterFree`` once the buffer is closed."""
        address = self._address
        if address:
            return address
        raise _closed(self)

    @property
    def root(self) -> Root:
        """The buffer itself."""
        return self

    def ready(self) -> int:
        """The address, once no queued work of this package uses the buffer."""
        if self._flights:
            self.settle()
        address = self._address
        if address:
            return address
        raise _closed(self)

    @property
    def is_open(self) -> bool:
        """Whether the memory is held."""
        return self._address != 0

    @classmethod
    def of(cls: type[_B], data: HostData) -> _B:
        """A buffer with a copy of ``data``."""
        _keep, _address, size = source_of(data)
        buffer = cls(size)
        buffer.copy_from(data)
        return buffer

    def close(self) -> None:
        """Waits for the queued copies of this buffer and gives its memory back. May be called twice."""
        if self._flights:
            self.settle()
        # In one step, so that of two threads one gives it back.
        address, self._address = self._address, 0
        if not address:
            return
        # A reset of the device may have taken the memory already.
        if open_buffers.pop(address, None) is None:
            return
        code = type(self)._release(address)
        if code:
            raise error_of(self._release_name, code, address=address, size=self.nbytes)

    def lost(self) -> None:
        """The device took the memory back: neither used nor freed from now on."""
        self._is_lost = True
        self._address = 0
        self._flights = None

    def __enter__(self: _B) -> _B:
        self.address  # noqa: B018 - a closed one cannot be opened again
        return self

    def __exit__(self, *error: object) -> None:
        end(self.close, error[0])

    def __del__(self) -> None:
        # Missing when the allocation failed.
        if getattr(self, "_address", 0):
            drop(self.close)

    def __repr__(self) -> str:
        if not self._address:
            how = f"taken back by device {self.device}" if hasattr(self, "_is_lost") else "closed"
            return f"<{type(self).__name__} of {self.nbytes} bytes, {how}>"
        place = f" on device {self.device}" if self.side else ""
        return f"<{type(self).__name__} of {self.nbytes} bytes at {self._address:#x}{place}>"


class _NoHostAccess:
    """What device memory answers to those who take it for an array."""

    __slots__ = ()

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("device memory is not host memory: use to_numpy(), copy_to(array) or a PinnedBuffer")

    def __dlpack__(self, **_: object) -> object:
        raise BufferError("device memory is not host memory: copy it to a PinnedBuffer, whose bytes can be shared")

    def __bytes__(self) -> bytes:
        raise TypeError("device memory is not host memory: use tobytes(), which copies")


class DeviceBuffer(_NoHostAccess, _Buffer):
    """Memory of the current device. Its content is undefined until something is written.

    >>> from cannery import session
    >>> with session(), DeviceBuffer(1 << 20) as buffer:
    ...     buffer.fill(7)
    ...     buffer[-3:].tobytes()
    b'\\x07\\x07\\x07'
    >>> buffer.fill(0)
    Traceback (most recent call last):
    ...
    cannery.errors.UseAfterFree: <DeviceBuffer of 1048576 bytes, closed> is used after close(): allocate a new one
    """

    __slots__ = ()

    side = 1
    _release = staticmethod(_free)
    _release_name = "acl.rt.free"

    def __init__(self, nbytes: int, policy: int = HUGE_FIRST) -> None:
        if type(nbytes) is not int or not 0 <= nbytes <= _MOST:
            nbytes = _checked(nbytes)
        address, code = _malloc(nbytes, policy)
        if code:
            raise error_of("acl.rt.malloc", code, asked=nbytes, policy=policy)
        self._hold(address, nbytes)

    def _hold(self, address: int, nbytes: int) -> None:
        """Takes memory over. The thread has a device: it just allocated."""
        self._address = address
        self.nbytes = nbytes
        self._offset = 0
        self._flights = None
        self.device = _get_device()[0]
        if address in open_buffers:
            forget(address)  # of a device that was reset through `acl`
        open_buffers[address] = _ref(self)

    def __getitem__(self, key: slice) -> DeviceSlice:
        """A part of the memory, not a copy. Bounds that do not fit are refused."""
        return DeviceSlice(self, *bounds(self, key))


class CachedBuffer(DeviceBuffer):
    """Cached memory of the device: flush after the host wrote it, invalidate before the host reads it.

    >>> from cannery import session
    >>> with session(), CachedBuffer(4096) as buffer:
    ...     buffer.copy_from(bytes(4096))
    ...     buffer.flush()
    ...     buffer.invalidate(1024, 2048)
    """

    __slots__ = ()

    def __init__(self, nbytes: int, policy: int = HUGE_FIRST) -> None:
        nbytes = _checked(nbytes)
        address, code = acl.rt.malloc_cached(nbytes, policy)
        if code:
            raise error_of("acl.rt.malloc_cached", code, asked=nbytes, policy=policy)
        self._hold(address, nbytes)

    def flush(self, offset: int = 0, size: int | None = None) -> None:
        """Writes what the cache holds of a range to memory. Default: the whole buffer."""
        start, count = self._range(offset, size)
        code = acl.rt.mem_flush(self.address + start, count) if count else 0
        if code:
            raise error_of("acl.rt.mem_flush", code, offset=start, size=count)

    def invalidate(self, offset: int = 0, size: int | None = None) -> None:
        """Drops what the cache holds of a range, so that memory is read again. Default: the whole buffer."""
        start, count = self._range(offset, size)
        code = acl.rt.mem_invalidate(self.address + start, count) if count else 0
        if code:
            raise error_of("acl.rt.mem_invalidate", code, offset=start, size=count)

    def _range(self, offset: int, size: int | None) -> tuple[int, int]:
        count = self.nbytes - offset if size is None else size
        if offset < 0 or count < 0 or offset + count > self.nbytes:
            raise OutOfRange(
                f"offset {offset} and size {count} are not inside the {self.nbytes} bytes of {self!r}",
                numbers={"offset": offset, "asked": count, "size": self.nbytes},
                remedy=f"use an offset and a size of 0 or more that end at byte {self.nbytes} or before",
            )
        return offset, count


class _HostAccess(Memory):
    """Host memory that Python may look at. Every look first waits for queued copies."""

    __slots__ = ()

    def _lend(self) -> memoryview:
        raise NotImplementedError

    def view(self) -> memoryview:
        """The bytes themselves, writable. The buffer cannot be closed while a view lives.

        >>> from cannery import session
        >>> with session(), PinnedBuffer(4) as buffer:
        ...     with buffer.view() as view:
        ...         view[:] = b"abcd"
        ...     buffer.tobytes()
        b'abcd'
        """
        return self._lend()

    def __buffer__(self, _flags: int) -> memoryview:
        return self._lend()

    def __bytes__(self) -> bytes:
        return self.tobytes()

    @property
    def __array_interface__(self) -> dict[str, object]:
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": self._lend()}

    def __dlpack__(self, **options: object) -> object:
        """The bytes for ``from_dlpack`` of an array library: one axis of 8-bit unsigned integers.

        >>> import numpy
        >>> from cannery import session
        >>> with session(), PinnedBuffer.of(b"abcd") as buffer:
        ...     numpy.from_dlpack(buffer).tolist()
        [97, 98, 99, 100]
        """
        from .dlpack import capsule

        return capsule(self._lend(), options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU


class PinnedBuffer(_HostAccess, _Buffer):
    """Page-locked host memory: the host's end of queued copies, and an array without a copy.

    >>> import numpy
    >>> from cannery import session
    >>> with session(), PinnedBuffer(16) as buffer:
    ...     numpy.asarray(buffer).view("<u4")[:] = [1, 2, 3, 4]
    ...     buffer[4:8].tobytes()
    b'\\x02\\x00\\x00\\x00'
    """

    __slots__ = ("_lease",)

    side = 0
    _release = staticmethod(_free_host)
    _release_name = "acl.rt.free_host"

    def __init__(self, nbytes: int) -> None:
        if type(nbytes) is not int or not 0 <= nbytes <= _MOST:
            nbytes = _checked(nbytes)
        address, code = _malloc_host(nbytes)
        if code:
            raise error_of("acl.rt.malloc_host", code, asked=nbytes)
        self._address = address
        self.nbytes = nbytes
        self._offset = 0
        self._flights = None
        self._lease: weakref.ref[ctypes.Array[ctypes.c_ubyte]] | None = None
        self.device = -1
        open_buffers[address] = _ref(self)

    def _lend(self) -> memoryview:
        # One object stands behind all views and keeps the buffer alive; the buffer only knows whether it lives.
        address = self.ready()
        lease = self._lease() if self._lease is not None else None
        if lease is None:
            lease = (ctypes.c_ubyte * self.nbytes).from_address(address)
            vars(lease)["owner"] = self
            self._lease = weakref.ref(lease)
        return memoryview(lease).cast("B")

    def close(self) -> None:
        """Waits for queued copies and gives the memory back. ``StillViewed`` while arrays or views show it."""
        if self._lease is not None and self._address and self._lease() is not None:
            raise StillViewed(
                f"{self!r} cannot be closed: arrays or views still show its memory; drop them first, or just drop "
                "the buffer, whose memory then goes with the last of them",
                remedy="drop the arrays and views first",
            )
        super().close()

    def __exit__(self, *error: object) -> None:
        # An error on its way is not hidden: its frames may hold the views.
        if error[0] is None or self._lease is None or self._lease() is None:
            end(self.close, error[0])

    def __getitem__(self, key: slice) -> PinnedSlice:
        """A part of the memory, not a copy. Bounds that do not fit are refused."""
        return PinnedSlice(self, *bounds(self, key))


class _Slice(Memory):
    """A part of a buffer. It keeps the buffer alive, not open."""

    __slots__ = ("_offset", "_root", "nbytes")

    _root: _Buffer

    def __init__(self, root: _Buffer, offset: int, nbytes: int) -> None:
        self._root = root
        self._offset = offset
        self.nbytes = nbytes

    @property
    def address(self) -> int:
        """The first byte. Raises ``UseAfterFree`` once the buffer is closed."""
        return self._root.address + self._offset

    @property
    def root(self) -> Root:
        """The buffer that the bytes belong to."""
        return self._root

    def ready(self) -> int:
        """The address, once no queued work of this package uses the buffer."""
        return self._root.ready() + self._offset

    def __repr__(self) -> str:
        return f"<{type(self).__name__} [{self._offset}:{self._offset + self.nbytes}] of {self._root!r}>"


class DeviceSlice(_NoHostAccess, _Slice):
    """A part of a ``DeviceBuffer``."""

    __slots__ = ()

    side = 1

    def __getitem__(self, key: slice) -> DeviceSlice:
        offset, size = bounds(self, key)
        return DeviceSlice(self._root, self._offset + offset, size)


class PinnedSlice(_HostAccess, _Slice):
    """A part of a ``PinnedBuffer``."""

    __slots__ = ()

    side = 0
    _root: PinnedBuffer

    def _lend(self) -> memoryview:
        return self._root._lend()[self._offset : self._offset + self.nbytes]

    def __getitem__(self, key: slice) -> PinnedSlice:
        offset, size = bounds(self, key)
        return PinnedSlice(self._root, self._offset + offset, size)


def _closed(buffer: _Buffer) -> UseAfterFree:
    when, step = "close()", "close the buffer later"
    if hasattr(buffer, "_is_lost"):
        when, step = "its device was reset", "use the buffer while its Device or session is open"
    return UseAfterFree(
        f"{buffer!r} is used after {when}: allocate a new one",
        numbers={"size": buffer.nbytes},
        remedy=f"allocate a new one, or {step}",
    )


def foreign(memory: Memory, stream_device: int) -> WrongDevice | None:
    """The error for device memory on a stream of another device."""
    device = memory.root.device
    if not memory.side or device == stream_device:
        return None
    step = f"make the stream while Device({device}) is current"
    return WrongDevice(
        f"{memory!r} is on device {device}, the stream on device {stream_device}: {step}",
        numbers={"device": device, "stream_device": stream_device},
        remedy=step,
    )


def remember(root: Root, flight: Flight, stream: Stream) -> None:
    """Notes queued work in a buffer: the newest of each stream, which is passed last."""
    flights = root._flights
    if flights is None:
        root._flights = [flight]
        return
    for place, former in enumerate(flights):
        if former._stream is stream or former._stream is None:
            flights[place] = flight
            return
    flights.append(flight)
