"""The memory of the second media family."""
# Written by crates/python/gen_stubs.py. Do not edit.

from typing import SupportsIndex

def dvpp_free(dev_ptr: SupportsIndex, /) -> int:
    """ret = dvpp_free(dev_ptr): release memory of dvpp_malloc."""

def dvpp_malloc(dev_id: SupportsIndex, size: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = dvpp_malloc(dev_id, size): memory for media functions."""
