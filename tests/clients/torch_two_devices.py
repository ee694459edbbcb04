"""torch_npu with two devices: copies between them."""

import torch
import torch_npu
from checks import check, finish
from torch_data import MIB, random_bytes, random_floats, same

FIRST, SECOND = torch.device("npu:0"), torch.device("npu:1")


@check("device count")
def _():
    assert torch.npu.device_count() == 2
    assert torch_npu.__version__


@check("each device has its own id")
def _():
    ids = {str(torch.npu.get_device_properties(device).uuid) for device in (0, 1)}
    assert len(ids) == 2, ids


@check("peer copies, both ways")
def _():
    data = random_bytes(8 * MIB + 5)
    there = data.to(FIRST)
    other = there.to(SECOND)
    assert other.device == SECOND
    same(other, data)
    same(other.to(FIRST), data)


@check("peer copies in order with their neighbours")
def _():
    data = random_floats(1024, 1025)
    there = data.to(FIRST)
    for _ in range(10):
        other = there.clone().to(SECOND, non_blocking=True)
        there = other.clone().to(FIRST, non_blocking=True)
    same(there, data)


@check("copy_ between devices, slices too")
def _():
    data, more = random_floats(1000, 1031), random_floats(1000, 1031)
    there, other = data.to(FIRST), more.to(SECOND)
    other[100:600].copy_(there[200:700])
    more[100:600] = data[200:700]
    same(other, more)


@check("memory is counted for each device")
def _():
    torch.npu.empty_cache()
    before = [torch.npu.mem_get_info(device)[0] for device in (0, 1)]
    there = torch.empty(64 * MIB, dtype=torch.uint8, device=SECOND)
    after = [torch.npu.mem_get_info(device)[0] for device in (0, 1)]
    assert before[0] == after[0] and before[1] - after[1] >= 64 * MIB, (before, after)
    del there


@check("an event orders two devices")
def _():
    data = random_bytes(16 * MIB, pinned=True)
    streams = [torch.npu.Stream(device=device) for device in (0, 1)]
    there = torch.empty(data.shape, dtype=data.dtype, device=FIRST)
    other = torch.empty(data.shape, dtype=data.dtype, device=SECOND)
    torch.npu.synchronize(0)
    torch.npu.synchronize(1)
    with torch.npu.stream(streams[0]):
        there.copy_(data, non_blocking=True)
        event = streams[0].record_event()
    with torch.npu.device(1), torch.npu.stream(streams[1]):
        streams[1].wait_event(event)
        other.copy_(there, non_blocking=True)
    streams[1].synchronize()
    same(other, data)


finish()
