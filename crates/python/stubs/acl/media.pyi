"""The memory of the first media family."""
# Written by crates/python/gen_stubs.py. Do not edit.

from typing import SupportsIndex

def dvpp_free(dev_ptr: SupportsIndex, /) -> int:
    """ret = dvpp_free(dev_ptr): release memory of dvpp_malloc."""

def dvpp_malloc(size: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = dvpp_malloc(size): memory for media functions, 128-byte aligned."""
