"""torch_npu with allocators of the program: a pool, and a library in place of the allocator."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch_npu
from checks import check, finish
from torch_data import MIB, NPU, random_bytes, same

SOURCE = r"""
#include <stddef.h>
#include <sys/types.h>

extern int aclrtMalloc(void **, size_t, int);
extern int aclrtFree(void *);

static long taken, given;
static size_t bytes;

void *take(ssize_t size, int device, void *stream)
{
    void *block = NULL;

    (void)device;
    (void)stream;
    if (aclrtMalloc(&block, (size_t)size, 0) != 0)
        return NULL;
    taken++;
    bytes += (size_t)size;
    return block;
}

void give(void *block, size_t size, void *stream)
{
    (void)size;
    (void)stream;
    if (aclrtFree(block) == 0)
        given++;
}

long count_taken(void) { return taken; }
long count_given(void) { return given; }
"""

_place = tempfile.TemporaryDirectory()
LIBRARY = os.path.join(_place.name, "allocator.so")


def build():
    """Compiles the allocator against the prefix."""
    source = os.path.join(_place.name, "allocator.c")
    with open(source, "w") as file:
        file.write(SOURCE)
    libraries = os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64")
    command = ["gcc", "-shared", "-fPIC", "-o", LIBRARY, source, f"-L{libraries}", "-lascendcl"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(LIBRARY)


counts = build()
PLUGGABLE = os.environ.get("CLIENT_PLUGGABLE") == "1"
if PLUGGABLE:
    torch.npu.change_current_allocator(torch_npu.npu.NPUPluggableAllocator(LIBRARY, "take", "give"))


if PLUGGABLE:

    @check("a library in place of the allocator")
    def _():
        data = random_bytes(5 * MIB + 1)
        there = data.to(NPU)
        same(there, data)
        same(there.clone(), data)
        assert counts.count_taken() >= 2
        del there
        torch.npu.synchronize()
        assert counts.count_given() == counts.count_taken(), (counts.count_given(), counts.count_taken())

    @check("its memory is that of the card")
    def _():
        free = torch.npu.mem_get_info()[0]
        there = torch.empty(64 * MIB, dtype=torch.uint8, device=NPU)
        assert free - torch.npu.mem_get_info()[0] >= 64 * MIB
        del there
        assert torch.npu.mem_get_info()[0] == free

else:

    @check("MemPool: blocks of a pool")
    def _():
        pool = torch.npu.MemPool()
        data = random_bytes(6 * MIB + 1)
        with torch.npu.use_mem_pool(pool):
            there = data.to(NPU)
        outside = data.to(NPU)
        segments = pool.snapshot()
        inside = [s for s in segments if s["address"] <= there.data_ptr() < s["address"] + s["total_size"]]
        other = [s for s in segments if s["address"] <= outside.data_ptr() < s["address"] + s["total_size"]]
        assert len(inside) == 1 and not other, (len(inside), len(other))
        same(there, data)
        same(outside, data)

    @check("MemPool: with an allocator of the program")
    def _():
        allocator = torch_npu.npu.NPUPluggableAllocator(LIBRARY, "take", "give")
        pool = torch.npu.MemPool(allocator.allocator())
        before = counts.count_taken()
        data = random_bytes(6 * MIB + 1)
        with torch.npu.use_mem_pool(pool):
            there = data.to(NPU)
        assert counts.count_taken() > before
        same(there, data)
        del there, pool
        torch.npu.empty_cache()


finish()
