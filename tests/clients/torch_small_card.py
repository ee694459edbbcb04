"""torch_npu on a card with 256 MiB in 2 MiB pages: shortages, and segments that expand (see run.py)."""

import os

import torch
import torch_npu
from checks import check, finish
from torch_data import MIB, NPU, OutOfMemory, random_bytes, same

EXPANDABLE = "expandable_segments:True" in os.environ.get("PYTORCH_NPU_ALLOC_CONF", "")


def fill(size):
    """Blocks until nothing more fits, and the last error."""
    blocks = []
    while True:
        try:
            blocks.append(torch.empty(size, dtype=torch.uint8, device=NPU))
        except OutOfMemory as error:
            return blocks, str(error)


@check("the kind of segments")
def _():
    assert torch_npu.__version__
    there = torch.empty(MIB, dtype=torch.uint8, device=NPU)
    kinds = {segment.get("is_expandable", False) for segment in torch.npu.memory_snapshot()}
    assert kinds == {EXPANDABLE}, kinds
    del there


@check("a full card, with numbers in the error")
def _():
    total = torch.npu.mem_get_info()[1]
    assert total == 256 * MIB, total
    blocks, text = fill(20 * MIB)
    assert 8 <= len(blocks) <= 12, len(blocks)
    assert "Tried to allocate 2" in text and "256.00 MiB total capacity" in text, text
    assert torch.npu.mem_get_info()[0] < 40 * MIB


@check("everything comes back after a shortage")
def _():
    torch.npu.synchronize()
    torch.npu.empty_cache()
    free, total = torch.npu.mem_get_info()
    assert total - free < 48 * MIB, (free, total)
    data = random_bytes(100 * MIB + 1)
    same(data.to(NPU), data)


@check("other sizes in the place of released blocks")
def _():
    for size in (3, 7, 30, 45, 90):
        datas = [random_bytes(size * MIB - 5) for _ in range(180 // size)]
        there = [data.to(NPU) for data in datas]
        for got, want in zip(there[::2], datas[::2]):
            same(got, want)
        del there, got


@check("a block grows past a hole" if EXPANDABLE else "a shortage leaves the other tensors alone")
def _():
    torch.npu.empty_cache()
    data = random_bytes(30 * MIB)
    there = [data.to(NPU) for _ in range(6)]
    for number in (0, 2, 4):
        there[number] = None
    try:
        # 90 MiB are free, but not in one piece: only segments that expand find the room.
        large = torch.empty(75 * MIB, dtype=torch.uint8, device=NPU)
    except OutOfMemory:
        assert not EXPANDABLE, "the segment could have grown"
    else:
        large.copy_(random_bytes(75 * MIB))
    for tensor in filter(lambda tensor: tensor is not None, there):
        same(tensor, data)


finish()
