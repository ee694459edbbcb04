"""Host-visible memory for array libraries, by the DLPack protocol: version 1 for those that ask, else version 0."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

__all__ = ["capsule"]


class _Tensor(ctypes.Structure):
    """``DLTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """``DLManagedTensor``."""

    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    """``DLPackVersion``."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class _Versioned(ctypes.Structure):
    """``DLManagedTensorVersioned``. No flag is set: the memory is writable and not a copy."""

    _fields_ = [
        ("version", _Version),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_NAME = b"dltensor"
_VERSIONED_NAME = b"dltensor_versioned"
_CPU = 1
_UNSIGNED = 1

# What a consumer holds: address of the structure -> everything it points to.
_lent: dict[int, tuple[object, ...]] = {}

_new = ctypes.pythonapi.PyCapsule_New
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_new.restype = ctypes.py_object
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_is_valid.restype = ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_pointer.restype = ctypes.c_void_p


def _give_back(managed: int) -> None:
    _lent.pop(managed, None)


def _dropped(dying: int) -> None:
    # A consumer that took it has renamed it.
    for name in (_NAME, _VERSIONED_NAME):
        if _is_valid(dying, name):
            _lent.pop(_pointer(dying, name), None)


# A consumer may call it from any thread, without the interpreter's lock: CFUNCTYPE takes it.
_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_give_back)
# Runs while the capsule dies, with the lock held.
_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_dropped)


def capsule(view: memoryview, options: Mapping[str, object]) -> object:
    """A capsule for the bytes of ``view``, which lives until the consumer is done."""
    if options.get("copy"):
        raise BufferError("this memory is lent, not copied: leave copy out, or use tobytes() or to_numpy()")
    if options.get("dl_device") not in (None, (_CPU, 0)):
        raise BufferError(f"this memory is host memory, device (1, 0), not {options['dl_device']}")
    holder = (ctypes.c_ubyte * len(view)).from_buffer(view)
    shape = (ctypes.c_int64 * 1)(len(view))
    version = options.get("max_version")
    versioned = isinstance(version, tuple) and version >= (1, 0)
    managed = _Versioned(_Version(1, 0)) if versioned else _Managed()
    managed.tensor.data = ctypes.addressof(holder)
    managed.tensor.device_type = _CPU
    managed.tensor.ndim = 1
    managed.tensor.code = _UNSIGNED
    managed.tensor.bits = 8
    managed.tensor.lanes = 1
    managed.tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    managed.deleter = ctypes.cast(_deleter, ctypes.c_void_p)
    address = ctypes.addressof(managed)
    _lent[address] = (managed, shape, holder)
    name = _VERSIONED_NAME if versioned else _NAME
    answer: object = _new(address, name, ctypes.cast(_destructor, ctypes.c_void_p))
    return answer
