"""Host memory of Python objects as addresses that stay valid."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import acl

from .errors import MisuseError, OutOfRange, Single

__all__ = ["HostPointer", "borrowed"]

#: What lends memory: bytes, bytearray, memoryview, array.array, numpy arrays, ctypes objects ...
HostData = Any

_bytes_to_ptr = acl.util.bytes_to_ptr
_byte = ctypes.c_char
_addressof = ctypes.addressof


class _PyBuffer(ctypes.Structure):
    """``Py_buffer`` of the stable interface of CPython."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_get_buffer.restype = ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None


def _described(data: object) -> str:
    return f"'{type(data).__name__}'"


class HostPointer(Single):
    """The address of an object's memory; the object lives, and keeps its size, as long as this does.

    The safe form of ``acl.util.bytes_to_ptr`` and ``acl.util.numpy_to_ptr``: those return a number
    that outlives what it points to. Functions of ``acl`` take a ``HostPointer`` in place of a number.

    >>> data = bytearray(b"0123456789")
    >>> with HostPointer(data, writable=True) as pointer:
    ...     pointer.size, pointer.address == int(pointer)
    (10, True)
    >>> HostPointer(b"text", writable=True)
    Traceback (most recent call last):
    ...
    cannery.errors.MisuseError: 'bytes' is read-only: pass a bytearray, a writable array or a PinnedBuffer
    """

    __slots__ = ("_buffer", "address", "size")

    #: The first byte; 0 after ``close``.
    address: int
    #: Bytes.
    size: int

    def __init__(self, data: HostData, *, writable: bool = False) -> None:
        self._buffer: _PyBuffer | None = None
        _refuse_objects(data)
        buffer = _PyBuffer()
        try:
            # 1 is PyBUF_WRITABLE; without format and strides memory that is not contiguous is refused.
            _get_buffer(data, ctypes.byref(buffer), 1 if writable else 0)
        except (TypeError, BufferError, ValueError) as error:
            raise _refusal(data, writable) from error
        self._buffer = buffer
        self.address = buffer.buf or 0
        self.size = buffer.len

    def __index__(self) -> int:
        if self._buffer is None:
            raise MisuseError("the HostPointer was closed: make a new one", remedy="make a new one")
        return self.address

    __int__ = __index__

    def __len__(self) -> int:
        return self.size

    def close(self) -> None:
        """Gives the object's memory back to it. May be called twice."""
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            self.address = 0
            _release_buffer(ctypes.byref(buffer))

    def __enter__(self) -> HostPointer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<HostPointer {self.address:#x}, {self.size} bytes>"


def _refusal(data: object, writable: bool) -> Exception:
    """Why an object cannot lend its memory, and what can."""
    view: memoryview | None
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        return TypeError(
            f"{_described(data)} has no memory to copy: pass bytes, a bytearray, a memoryview, an array or a buffer"
        )
    except ValueError:
        view = None  # elements that have no format, such as dates
    if writable and view is not None and view.readonly:
        return MisuseError(
            f"{_described(data)} is read-only: pass a bytearray, a writable array or a PinnedBuffer",
            remedy="pass a bytearray, a writable array or a PinnedBuffer",
        )
    return MisuseError(
        f"the elements of {_described(data)} are not contiguous: pass numpy.ascontiguousarray(...) or a copy",
        remedy="pass numpy.ascontiguousarray(...) or a copy",
    )


def source_of(data: HostData) -> tuple[object, int, int]:
    """What keeps the memory of an object in place, its address and its bytes; for reading."""
    if type(data) is bytes:
        return data, _bytes_to_ptr(data), len(data)
    return target_of(data, False)


def target_of(data: HostData, writable: bool = True) -> tuple[object, int, int]:
    """The same, for writing."""
    _refuse_objects(data)
    try:
        # The quick way, for what is writable and not empty.
        size = len(data) if type(data) is bytearray else data.nbytes
        holder = _byte.from_buffer(data)
    except (AttributeError, TypeError, ValueError, BufferError):
        pointer = HostPointer(data, writable=writable)
        return pointer, pointer.address, pointer.size
    return holder, _addressof(holder), size


def _refuse_objects(data: HostData) -> None:
    """Refuses what holds addresses of Python objects, not numbers."""
    if getattr(getattr(data, "dtype", None), "hasobject", False) or (type(data) is memoryview and _objects(data)):
        raise TypeError(
            f"the elements of {_described(data)} are Python objects, whose addresses mean nothing elsewhere: pass an "
            "array of numbers"
        )


def _objects(view: memoryview) -> bool:
    """Whether elements are objects, by the format: ``O``, also within a structure, whose names stand in colons."""
    return "O" in re.sub(r":.*?:", "", view.format)


@contextmanager
def borrowed(data: HostData, size: int | None = None, *, writable: bool = False) -> Iterator[int]:
    """The address of an object's memory, for calls of ``acl`` inside a ``with`` block.

    >>> with borrowed(b"twelve bytes") as address:
    ...     address > 0
    True
    """
    with HostPointer(data, writable=writable) as pointer:
        if size is not None and size > pointer.size:
            raise OutOfRange(
                f"{size} bytes wanted of {_described(data)}, which has {pointer.size}",
                numbers={"asked": size, "size": pointer.size},
                remedy=f"ask for {pointer.size} bytes or less, or pass more memory",
            )
        yield pointer.address
