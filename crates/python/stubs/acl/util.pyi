"""Bytes, NumPy arrays and threads."""
# Written by crates/python/gen_stubs.py. Do not edit.

from collections.abc import Callable
from typing import Any, SupportsIndex

from numpy.typing import NDArray

def bytes_to_ptr(data: bytes, /) -> int:
    """ptr = bytes_to_ptr(data): the address of the bytes themselves; nothing is copied.

    No reference is kept: data must live as long as the address is used. Programs may copy into
    it, but not into objects of 0 or 1 bytes, which the interpreter shares.
    """

def numpy_contiguous_to_ptr(data_in: NDArray[Any], /) -> tuple[int, NDArray[Any]]:
    """ptr, data_out = numpy_contiguous_to_ptr(data_in): an address, and the array to keep alive for it.

    Deprecated. data_out is data_in itself when that is C-contiguous, else a copy. There is no code.
    """

def numpy_to_ptr(data: NDArray[Any], /) -> int:
    """ptr = numpy_to_ptr(data): the address of the first element; nothing is copied.

    Deprecated: use bytes_to_ptr. No reference is kept. Elements that are not contiguous give a
    second warning: a copy from the address moves the wrong bytes.
    """

def ptr_to_bytes(ptr: SupportsIndex, size: SupportsIndex, /) -> bytes:
    """bytes_out = ptr_to_bytes(ptr, size): a copy of size bytes of readable memory.

    What the host cannot read (null, device memory, released memory) is a ValueError.
    """

def ptr_to_numpy(ptr: SupportsIndex, shape: tuple[int, ...], type: SupportsIndex, /) -> NDArray[Any]:
    """output = ptr_to_numpy(ptr, shape, type): a writable array on memory that it does not own.

    Deprecated. shape is a tuple; type is NumPy's number of a numeric type (2 uint8, 11 float32 ...).
    What the host cannot read (null, device memory, released memory) is a ValueError.
    """

def start_thread(thr_func: Callable[..., object], args_list: object, /) -> tuple[int, int]:
    """thr_id, ret = start_thread(thr_func, args_list): call thr_func(args_list) in a new thread.

    args_list is passed on as the one argument; None calls thr_func without any. The thread must
    choose its own context. What thr_func raises is printed, and raised again by stop_thread.
    """

def stop_thread(thr_id: SupportsIndex, /) -> int:
    """ret = stop_thread(thr_id): wait until the thread of start_thread has ended.

    It does not ask the thread to end. Other threads run meanwhile, and Ctrl-C interrupts the
    wait. A function that raised makes this raise RuntimeError. An id that start_thread did not
    give, or that was stopped before, returns 3 (no such thread).
    """
