"""torch_npu on one device: tensors, pinned memory, streams, events, memory questions, graphs."""

import gc
import threading
import time

import torch
import torch_npu
from checks import check, finish
from torch_data import MIB, NPU, OutOfMemory, random_bytes, random_floats, same


@check("import torch_npu")
def _():
    assert torch_npu.__version__.startswith("2."), torch_npu.__version__
    assert torch.npu.is_available()


@check("device count")
def _():
    assert torch.npu.device_count() == 1
    assert torch.npu.current_device() == 0


@check("device properties")
def _():
    properties = torch.npu.get_device_properties(0)
    free, total = torch.npu.mem_get_info()
    assert properties.name == torch.npu.get_device_name(0) == "Ascend910B3", properties
    # The one is rounded to MiB by the program.
    assert properties.total_memory == total, (properties.total_memory, total)
    assert 0 < free <= total


@check("empty, then copies in and out")
def _():
    data = random_bytes()
    there = torch.empty(data.shape, dtype=data.dtype, device=NPU)
    assert there.device == NPU and there.is_npu
    there.copy_(data)
    back = torch.empty_like(data)
    back.copy_(there)
    same(back, data)


@check("zeros by copy")
def _():
    there = torch.zeros(MIB + 7, dtype=torch.uint8).to(NPU)
    assert there.cpu().count_nonzero() == 0


@check(".to('npu') and .cpu()")
def _():
    for data in (random_bytes(), random_floats(513, 1027), random_floats(3, 5, 70001)):
        same(data.to("npu").cpu(), data)


@check("every data type comes back")
def _():
    raw = random_bytes(2 * MIB)
    for kind in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64):
        same(raw.view(kind).to("npu").cpu(), raw.view(kind))
    flags = raw > 127
    same(flags.to("npu").cpu(), flags)


@check("clone")
def _():
    data = random_bytes()
    first = data.to(NPU)
    second = first.clone()
    first.copy_(torch.zeros_like(data))
    same(second, data)


@check("copy_ between tensors of the device")
def _():
    data = random_bytes()
    there = torch.empty_like(data, device=NPU)
    there.copy_(data.to(NPU))
    same(there, data)


@check("slices and views")
def _():
    data = random_floats(1024, 1031)
    there = data.to(NPU)
    same(there[100:900], data[100:900])
    same(there[7], data[7])
    same(there.view(-1)[12345:999999], data.view(-1)[12345:999999])
    same(there.reshape(512, 2, 1031)[3, 1], data.reshape(512, 2, 1031)[3, 1])
    other = random_floats(200, 1031)
    there[300:500].copy_(other)
    data[300:500].copy_(other)
    same(there, data)


@check("pinned memory")
def _():
    data = random_bytes(pinned=True)
    assert data.is_pinned()
    same(data.to(NPU), data)


@check("pinned and non_blocking, both ways")
def _():
    data = random_bytes(8 * MIB + 5, pinned=True)
    there = data.to(NPU, non_blocking=True)
    back = torch.empty(data.shape, dtype=data.dtype, pin_memory=True)
    back.copy_(there, non_blocking=True)
    torch.npu.synchronize()
    same(back, data)


@check("pageable and non_blocking")
def _():
    data = random_bytes(8 * MIB + 5)
    there = data.to(NPU, non_blocking=True)
    torch.npu.synchronize()
    same(there, data)


@check("pinned blocks are used again")
def _():
    rounds = [random_bytes(3 * MIB + 1, pinned=True) for _ in range(3)]
    there = [data.to(NPU, non_blocking=True) for data in rounds]
    wanted = [data.clone() for data in rounds]
    del rounds
    fresh = [random_bytes(3 * MIB + 1, pinned=True) for _ in range(3)]  # may take the same blocks
    torch.npu.synchronize()
    for got, want in zip(there, wanted):
        same(got, want)
    assert len(fresh) == 3


@check("streams keep their order")
def _():
    data = random_bytes(4 * MIB, pinned=True)
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        there = data.to(NPU, non_blocking=True)
        for _ in range(10):
            there = there.clone()
        back = torch.empty_like(data).pin_memory()
        back.copy_(there, non_blocking=True)
    stream.synchronize()
    assert stream.query()
    same(back, data)


@check("streams wait for each other")
def _():
    streams = [torch.npu.Stream() for _ in range(4)]
    data = random_bytes(4 * MIB, pinned=True)
    there = torch.empty_like(data, device=NPU)
    torch.npu.synchronize()
    with torch.npu.stream(streams[0]):
        there.copy_(data, non_blocking=True)
    for before, after in zip(streams, streams[1:]):
        after.wait_stream(before)
        with torch.npu.stream(after):
            there = there.clone()
    streams[-1].synchronize()
    same(there, data)


@check("a hundred streams")
def _():
    data = random_bytes(MIB, pinned=True)
    there = []
    for _ in range(100):
        with torch.npu.stream(torch.npu.Stream()):
            there.append(data.to(NPU, non_blocking=True))
    torch.npu.synchronize()
    for tensor in there:
        same(tensor, data)


@check("events: order between streams")
def _():
    first, second = torch.npu.Stream(), torch.npu.Stream()
    data = random_bytes(16 * MIB, pinned=True)
    there = torch.empty_like(data, device=NPU)
    back = torch.empty_like(data).pin_memory()
    torch.npu.synchronize()
    event = torch.npu.Event()
    with torch.npu.stream(first):
        there.copy_(data, non_blocking=True)
        event.record()
    with torch.npu.stream(second):
        event.wait()
        back.copy_(there, non_blocking=True)
    second.synchronize()
    assert event.query()
    same(back, data)


@check("events: timing")
def _():
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    data = random_bytes(64 * MIB, pinned=True)
    there = torch.empty_like(data, device=NPU)
    torch.npu.synchronize()
    began = time.perf_counter()
    start.record()
    for _ in range(4):
        there.copy_(data, non_blocking=True)
    end.record()
    end.synchronize()
    wall = 1000 * (time.perf_counter() - began)
    between = start.elapsed_time(end)
    assert 0 < between <= wall + 1, (between, wall)
    same(there, data)


@check("record_stream")
def _():
    stream = torch.npu.Stream()
    data = random_bytes(32 * MIB, pinned=True)
    back = torch.empty_like(data).pin_memory()
    for _ in range(5):
        there = data.to(NPU)
        stream.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(stream):
            back.copy_(there, non_blocking=True)
        there.record_stream(stream)
        del there
        # What comes next may not take the block before the copy is done.
        other = torch.zeros(data.shape, dtype=torch.uint8).to(NPU)
        stream.synchronize()
        same(back, data)
        del other


@check("host functions")
def _():
    seen = []
    stream = torch.npu.current_stream()
    data = random_bytes(MIB, pinned=True)
    there = data.to(NPU, non_blocking=True)
    back = torch.zeros_like(data).pin_memory()

    def look(wanted):
        seen.append(torch.equal(back, wanted))

    torch_npu.npu._subscribe_report(stream)
    try:
        back.copy_(there, non_blocking=True)
        torch_npu.npu._launch_host_func(stream, look, data)
        torch.npu.synchronize()
    finally:
        torch_npu.npu._unsubscribe_report(stream)
    assert seen == [True], seen


@check("memory_stats, memory_allocated, max_memory_allocated")
def _():
    gc.collect()
    torch.npu.empty_cache()
    torch.npu.reset_peak_memory_stats()
    before = torch.npu.memory_allocated()
    there = torch.empty(10 * MIB, dtype=torch.uint8, device=NPU)
    grown = torch.npu.memory_allocated() - before
    assert 10 * MIB <= grown <= 10 * MIB + 512 + 32, grown
    stats = torch.npu.memory_stats()
    assert stats["allocated_bytes.all.current"] == before + grown
    del there
    assert torch.npu.memory_allocated() == before
    assert torch.npu.max_memory_allocated() >= before + grown


@check("memory_summary")
def _():
    text = torch.npu.memory_summary()
    assert "Allocated memory" in text and "NPU" in text.upper()


@check("memory_snapshot")
def _():
    there = torch.empty(5 * MIB, dtype=torch.uint8, device=NPU)
    segments = torch.npu.memory_snapshot()
    at = there.data_ptr()
    holds = [s for s in segments if s["address"] <= at < s["address"] + s["total_size"]]
    assert len(holds) == 1, len(holds)


@check("mem_get_info and empty_cache")
def _():
    gc.collect()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    before = torch.npu.mem_get_info()[0]
    there = torch.empty(256 * MIB, dtype=torch.uint8, device=NPU)
    during = torch.npu.mem_get_info()[0]
    assert 256 * MIB <= before - during <= 260 * MIB, before - during
    del there
    assert torch.npu.mem_get_info()[0] == during, "kept by the cache"
    torch.npu.empty_cache()
    assert torch.npu.mem_get_info()[0] == before


@check("out of memory, with numbers")
def _():
    total = torch.npu.mem_get_info()[1]
    try:
        torch.empty(total + MIB, dtype=torch.uint8, device=NPU)
    except OutOfMemory as error:
        text = str(error)
    else:
        raise AssertionError("more memory than the card has")
    assert "Tried to allocate 64.00 GiB" in text and "64.00 GiB total capacity" in text, text
    data = random_bytes()
    same(data.to(NPU), data)


@check("empty_with_swapped_memory: made, refused in copies, given back")
def _():
    before = torch.npu.mem_get_info()[0]
    there = torch_npu.empty_with_swapped_memory([1024, 1024], device=NPU)
    assert there.device == NPU and there.numel() == MIB
    assert torch.npu.mem_get_info()[0] == before, "host memory took device memory"
    try:
        there.copy_(random_floats(1024, 1024))
        torch.npu.synchronize()
    except RuntimeError as error:
        # Such an address is for operators only.
        assert "registered" in str(error), str(error)
    else:
        raise AssertionError("a copy to an address that copies may not use")


@check("threads copy at the same time")
def _():
    wrong = []

    def work(number):
        torch.npu.set_device(0)
        generator = torch.Generator().manual_seed(number)
        for _ in range(10):
            data = torch.randint(0, 256, (MIB + number,), dtype=torch.uint8, generator=generator)
            with torch.npu.stream(torch.npu.Stream()):
                if not torch.equal(data.to(NPU).clone().cpu(), data):
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


@check("NPUGraph: capture and replay of copies")
def _():
    source = torch.empty(2 * MIB, dtype=torch.uint8, device=NPU)
    middle, target = torch.empty_like(source), torch.empty_like(source)
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    before = random_bytes(2 * MIB)
    target.copy_(before)
    with torch.npu.graph(graph):
        middle.copy_(source)
        target.copy_(middle)
    same(target, before)  # captured, not run
    for _ in range(5):
        data = random_bytes(2 * MIB)
        source.copy_(data)
        graph.replay()
        torch.npu.synchronize()
        same(target, data)
    graph.reset()


@check("an operator is refused by name")
def _():
    there = random_floats(1024).to(NPU)
    for operator, name in ((lambda: there + there, "Add"), (lambda: there.exp(), "Exp")):
        try:
            operator()
            torch.npu.synchronize()
        except RuntimeError as error:
            assert name in str(error) and "207000" in str(error), str(error)
            assert "memory, not operators" in str(error), str(error)
        else:
            raise AssertionError(f"{name} was accepted")


@check("a collective is refused by name")
def _():
    data = torch.arange(1000, dtype=torch.int32)
    there = data.to(NPU)
    torch.distributed.init_process_group("hccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        torch.distributed.broadcast(there, 0)
        torch.npu.synchronize()
    except RuntimeError as error:
        assert "HcclGetRootInfo" in str(error) and "memory, not collectives" in str(error), str(error)
    else:
        raise AssertionError("a collective was accepted")
    finally:
        torch.distributed.destroy_process_group()
    same(there, data)


finish()
