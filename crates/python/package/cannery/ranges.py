"""What buffers and their slices have in common: bounds, copies and fills."""

from __future__ import annotations

import ctypes
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

import acl

from .errors import CanneryError, MisuseError, OutOfRange, Single, WrongDevice, error_of
from .host import HostData, source_of, target_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from .stream import Flight, Stream

__all__ = ["Memory"]

# Bound once: a call through two modules costs more than the call.
_memcpy = acl.rt.memcpy
_memset = acl.rt.memset
_byte = ctypes.c_char
_addressof = ctypes.addressof


class Memory(Single):
    """A range of bytes on the device or in pinned host memory: a whole buffer, or a slice of one."""

    __slots__ = ()

    #: 1 on the device, 0 on the host.
    side: ClassVar[int]
    #: Bytes.
    nbytes: int
    # From the first byte of the buffer.
    _offset: int
    # A range is no sequence of bytes that Python could read one by one.
    __iter__ = None

    if TYPE_CHECKING:
        # Attributes where that is quick, properties elsewhere.
        @property
        def address(self) -> int:
            """The first byte. Raises ``UseAfterFree`` once the buffer is closed."""

        @property
        def root(self) -> Root:
            """The buffer that the bytes belong to."""

        def ready(self) -> int:
            """The address, once no queued work of this package uses the buffer."""

    def __len__(self) -> int:
        return self.nbytes

    def __index__(self) -> int:
        return self.address

    # Copies ---------------------------------------------------------------------------------

    def copy_from(self, source: HostData | Memory) -> None:
        """Copies ``source`` here, now: a buffer or slice, bytes, an array. Sizes must be equal.

        Waits for queued copies of both ends that this package queued.

        >>> from cannery import DeviceBuffer, session
        >>> with session(), DeviceBuffer(8) as buffer:
        ...     buffer.copy_from(b"8 bytes.")
        ...     buffer[2:7].tobytes()
        b'bytes'
        """
        if isinstance(source, Memory):
            size = source.nbytes
            other = source.ready()
            sides = self.side + 2 * source.side
        else:
            _keep, other, size = source_of(source)
            sides = self.side
        if size != self.nbytes:
            raise _sizes_differ(self, source, size)
        code = _memcpy(self.ready(), size, other, size, sides) if size else 0
        if code:
            raise _copy_failed(code, self, source, size)

    def copy_to(self, target: HostData | Memory) -> None:
        """Copies this to ``target``, now: a buffer or slice, a bytearray, a writable array. Sizes must be equal.

        >>> from cannery import DeviceBuffer, session
        >>> with session(), DeviceBuffer.of(b"8 bytes.") as buffer:
        ...     received = bytearray(8)
        ...     buffer.copy_to(received)
        >>> received
        bytearray(b'8 bytes.')
        """
        if type(target) is bytearray and target:
            _keep: object = (holder := _byte.from_buffer(target))
            other, size = _addressof(holder), len(target)
        elif isinstance(target, Memory):
            target.copy_from(self)
            return
        else:
            _keep, other, size = target_of(target)
        if size != self.nbytes:
            raise _sizes_differ(self, target, size)
        code = _memcpy(other, size, self.ready(), size, 2 * self.side) if size else 0
        if code:
            raise _copy_failed(code, self, target, size)

    def copy_from_async(self, source: HostData | Memory, stream: Stream, *, staged: bool = False) -> Flight:
        """Queues a copy of ``source`` here; both ends live until the stream has passed it.

        ``source`` is a buffer or a slice. Other host memory is pageable: the device cannot read it while
        Python goes on, so it is refused, or with ``staged`` copied into pinned memory first.
        """
        return stream.copy(self, source, staged=staged)

    def copy_to_async(self, target: Memory, stream: Stream) -> Flight:
        """Queues a copy of this to another buffer or slice; both ends live until the stream has passed it."""
        return stream.copy(target, self)

    def fill(self, value: int) -> None:
        """Sets every byte, now.

        >>> from cannery import DeviceBuffer, session
        >>> with session(), DeviceBuffer(4) as buffer:
        ...     buffer.fill(0x41)
        ...     buffer.tobytes()
        b'AAAA'
        """
        if type(value) is not int or not 0 <= value <= 255:
            value = byte_of(value)
        size = self.nbytes
        code = _memset(self.ready(), size, value, size) if size else 0
        if code:
            raise error_of("acl.rt.memset", code, size=size, value=value)

    def fill_async(self, value: int, stream: Stream) -> Flight:
        """Queues a fill; the memory lives until the stream has passed it."""
        return stream.fill(self, value)

    def tobytes(self) -> bytes:
        """A copy of the bytes."""
        received = bytearray(self.nbytes)
        if received:
            self.copy_to(received)
        return bytes(received)

    def to_numpy(self, dtype: DTypeLike = "u1", shape: int | tuple[int, ...] | None = None) -> NDArray[Any]:
        """A copy of the bytes as an array.

        >>> from cannery import DeviceBuffer, session
        >>> with session(), DeviceBuffer.of(bytes(range(8))) as buffer:
        ...     buffer.to_numpy("<u2", (2, 2)).tolist()
        [[256, 770], [1284, 1798]]
        """
        import numpy

        element = numpy.dtype(dtype)
        if element.hasobject or not element.itemsize:
            raise TypeError(f"bytes cannot become elements of {element}: choose a type of numbers, such as 'f4'")
        if self.nbytes % element.itemsize:
            raise OutOfRange(
                f"{self.nbytes} bytes are no whole number of {element.name}, {element.itemsize} bytes each: slice it",
                numbers={"size": self.nbytes, "itemsize": element.itemsize},
                remedy=f"slice it: [:{self.nbytes - self.nbytes % element.itemsize}]",
            )
        array = numpy.empty(self.nbytes // element.itemsize, element)
        if self.nbytes:
            self.copy_to(array)
        return array if shape is None else array.reshape(shape)


class Root(Memory):
    """A buffer as its slices see it."""

    __slots__ = ("_address", "_flights", "device")

    # 0 when closed or lost.
    _address: int
    _flights: list[Flight] | None
    #: The number of the device; -1 for host memory, which belongs to none.
    device: int

    def lost(self) -> None:
        """The device took the memory back: neither used nor freed from now on."""
        raise NotImplementedError

    def settle(self) -> None:
        """Waits for the copies and fills that this package queued for the buffer."""
        flights, self._flights = self._flights, None
        try:
            for flight in flights or ():
                flight.wait()
        except BaseException:
            # Ctrl-C, or a wait that failed: they still use the memory.
            self._flights = [*(flights or ()), *(self._flights or ())]
            raise


def byte_of(value: object) -> int:
    """The value of a fill as Python's own whole number."""
    try:
        byte = int(index(value))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"a fill takes one byte, a whole number from 0 to 255, not '{type(value).__name__}': use copy_from for "
            "text, bytes and arrays"
        ) from None
    if 0 <= byte <= 255:
        return byte
    raise OutOfRange(
        f"a byte is from 0 to 255, not {byte}",
        numbers={"value": byte},
        remedy="use a value from 0 to 255, or copy_from for larger elements",
    )


def bounds(memory: Memory, key: object) -> tuple[int, int]:
    """Offset and size of ``memory[key]``. Unlike a list, a range never takes less than it was asked for."""
    if not isinstance(key, slice):
        raise TypeError(f"a slice such as [0:16] is needed, not '{type(key).__name__}': single bytes have no name here")
    if key.step not in (None, 1):
        raise MisuseError(
            f"a step of {key.step} is not possible: memory is contiguous (copy the whole, or use memcpy2d)",
            remedy="copy the whole range, or use acl.rt.memcpy2d",
        )
    size = memory.nbytes
    start = 0 if key.start is None else index(key.start)
    stop = size if key.stop is None else index(key.stop)
    first = start + size if start < 0 else start
    last = stop + size if stop < 0 else stop
    if not 0 <= first <= last <= size:
        raise OutOfRange(
            f"[{start}:{stop}] is not inside the {size} bytes of {memory!r}",
            numbers={"start": start, "stop": stop, "size": size},
            remedy=f"use bounds from 0 to {size}, the first not above the second",
        )
    return first, last - first


def _sizes_differ(memory: Memory, other: object, size: int) -> CanneryError:
    """Copies take equal sizes, so that a half copy is never an accident."""
    smaller = min(size, memory.nbytes)
    step = f"slice the larger one: [:{smaller}]"
    return OutOfRange(
        f"a copy needs equal sizes: {memory!r} has {memory.nbytes} bytes, '{type(other).__name__}' has {size}; {step}",
        numbers={"size": memory.nbytes, "other": size},
        remedy=step,
    )


def _copy_failed(code: int, memory: Memory, other: object, size: int) -> CanneryError:
    """The error of a copy; a thread on another device explains itself."""
    error = error_of("acl.rt.memcpy", code, size=size)
    current, none = acl.rt.get_device()
    if none:
        acl.get_recent_err_msg()
        return error
    ends = [end for end in (memory, other) if isinstance(end, Memory) and end.side]
    foreign = [end.root.device for end in ends if end.root.device != current]
    if not foreign:
        return error
    step = f"use Device({foreign[0]}) or its context in this thread, or enable peer access"
    wrong = WrongDevice(
        f"this thread is on device {current}, the memory on device {foreign[0]}: {step}",
        code=code,
        name=error.name,
        api=error.api,
        text=error.text,
        remedy=step,
        numbers={**error.numbers, "current": current, "device": foreign[0]},
    )
    wrong.__cause__ = error
    return wrong
