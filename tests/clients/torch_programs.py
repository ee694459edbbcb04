"""torch_npu as programs use it: files, models, offloading, two graphs, allocations by hand, other threads."""

import copy
import io
import json
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time

import torch
import torch_npu
from checks import check, finish
from torch_data import MIB, NPU, OutOfMemory, random_bytes, random_floats, same


@check("events: before any record, again and again, in nested streams")
def _():
    fresh = torch.npu.Event()
    assert fresh.query()
    fresh.synchronize()
    first, second = torch.npu.Stream(priority=-1), torch.npu.Stream(priority=0)
    data = random_bytes(4 * MIB, pinned=True)
    with torch.npu.stream(first):
        there = data.to(NPU, non_blocking=True)
        with torch.npu.stream(second):
            assert torch.npu.current_stream() == second
            with torch.npu.stream(None):
                assert torch.npu.current_stream() == second
        assert torch.npu.current_stream() == first
        for _ in range(2000):
            fresh.record()
    assert torch.npu.current_stream() == torch.npu.default_stream()
    while not fresh.query():
        time.sleep(0.001)
    same(there, data)
    second.wait_event(first.record_event())
    fresh.wait(second)
    second.synchronize()


@check("memory history, snapshots, peaks")
def _():
    torch.npu.memory._record_memory_history(max_entries=1000, context=None)
    keep = [torch.empty(3 * MIB, dtype=torch.uint8, device=NPU) for _ in range(4)]
    address = keep[1].data_ptr()
    del keep[1]
    snapshot = torch.npu.memory._snapshot()
    torch.npu.memory._record_memory_history(enabled=None)
    events = [event for trace in snapshot["device_traces"] for event in trace]
    actions = [event["action"] for event in events if event["addr"] == address]
    assert actions[:1] == ["alloc"] and "free_completed" in actions, actions
    torch.npu.reset_peak_memory_stats()
    torch.npu.reset_accumulated_memory_stats()
    peak = torch.npu.max_memory_allocated()
    keep.append(torch.empty(9 * MIB, dtype=torch.uint8, device=NPU))
    assert torch.npu.max_memory_allocated() >= peak + 9 * MIB
    assert torch.npu.memory_reserved() >= torch.npu.memory_allocated()


@check("a fraction of the card; allocations by hand")
def _():
    total = torch.npu.mem_get_info()[1]
    torch.npu.empty_cache()
    torch.npu.set_per_process_memory_fraction(0.01)
    try:
        torch.empty(total // 50, dtype=torch.uint8, device=NPU)
    except OutOfMemory as error:
        assert "655.36 MiB allowed" in str(error), error
    else:
        raise AssertionError("more than the fraction")
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)
    same(torch.zeros(total // 50 // MIB * MIB, dtype=torch.uint8).to(NPU)[-MIB:], torch.zeros(MIB, dtype=torch.uint8))
    before = torch.npu.memory_allocated()
    block = torch.npu.caching_allocator_alloc(5 * MIB, 0, torch.npu.Stream())
    assert torch.npu.memory_allocated() >= before + 5 * MIB
    torch.npu.caching_allocator_delete(block)
    assert torch.npu.memory_allocated() == before


@check("torch.save and torch.load, to and from the device")
def _():
    state = {"w": random_floats(1000, 1031), "b": random_bytes(21).view(3, 7), "h": random_floats(100).half()}
    there = {name: tensor.to(NPU) for name, tensor in state.items()}
    file = io.BytesIO()
    torch.save(there, file)
    for place in ("npu", "npu:0", torch.device("npu:0"), "cpu", {"npu:0": "cpu"}, None):
        file.seek(0)
        got = torch.load(file, map_location=place)
        for name, tensor in state.items():
            same(got[name], tensor)
        wanted = "cpu" if place == "cpu" or isinstance(place, dict) else "npu"
        assert got["w"].device.type == wanted, (place, got["w"].device)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "state.pt")
        torch.save(state, path)
        for options in ({}, {"mmap": True}, {"weights_only": False}):
            got = torch.load(path, map_location="npu", **options)
            for name, tensor in state.items():
                same(got[name], tensor)
    got = pickle.loads(pickle.dumps(there))
    same(got["w"], state["w"])


@check("deepcopy, storages, resizing")
def _():
    data = random_floats(500, 2063)
    there = data.to(NPU)
    twin = copy.deepcopy(there)
    assert twin.data_ptr() != there.data_ptr()
    storage = there.untyped_storage()
    size = storage.nbytes()
    same(torch.empty(0, dtype=torch.float32, device=NPU).set_(storage), data.view(-1))
    assert bytes(storage.cpu()) == data.numpy().tobytes()
    storage.resize_(2 * size)
    same(there, data)
    storage.resize_(0)
    assert storage.nbytes() == 0
    storage.resize_(size)
    there.copy_(data)
    same(there, data)
    same(twin, data)


@check("a model goes to the device, is loaded, is copied, comes back")
def _():
    model = torch.nn.Sequential(torch.nn.Linear(1200, 400), torch.nn.Linear(400, 1100))
    wanted = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.to(NPU)
    for name, tensor in model.state_dict().items():
        assert tensor.is_npu
        same(tensor, wanted[name])
    other = {name: torch.rand_like(tensor) for name, tensor in wanted.items()}
    model.load_state_dict(other)
    twin = copy.deepcopy(model).cpu()
    for name, tensor in twin.state_dict().items():
        same(tensor, other[name])
    with torch.device("meta"):
        empty = torch.nn.Linear(1200, 400)
    empty.to_empty(device=NPU)
    empty.load_state_dict({"weight": wanted["0.weight"], "bias": wanted["0.bias"]})
    same(empty.weight.detach(), wanted["0.weight"])


@check("layers go up and down on three streams")
def _():
    layers = [random_floats(MIB // 4 + number) for number in range(12)]
    host = [layer.pin_memory() for layer in layers]
    back = [torch.zeros_like(layer).pin_memory() for layer in layers]
    up, work, down = torch.npu.Stream(), torch.npu.Stream(), torch.npu.Stream()
    room = [torch.empty(MIB // 4 + 12, device=NPU) for _ in range(2)]
    filled, free = [torch.npu.Event() for _ in room], [torch.npu.Event() for _ in room]
    for number, layer in enumerate(host):
        at = number % 2
        part = room[at][: layer.numel()]
        with torch.npu.stream(up):
            up.wait_event(free[at])
            part.copy_(layer, non_blocking=True)
            filled[at].record()
        with torch.npu.stream(work):
            work.wait_event(filled[at])
            result = part.clone()
            done = work.record_event()
            free[at].record()
        with torch.npu.stream(down):
            down.wait_event(done)
            back[number].copy_(result, non_blocking=True)
            result.record_stream(down)
        del result
    torch.npu.synchronize()
    for got, layer in zip(back, layers):
        same(got, layer)


@check("tensors and their events between threads, while another empties the cache")
def _():
    datas = [random_bytes(MIB + 7 * number) for number in range(24)]
    made, wrong, stop = queue.Queue(), [], threading.Event()

    def produce(first):
        stream = torch.npu.Stream()
        for number in range(first, len(datas), 4):
            with torch.npu.stream(stream):
                there = datas[number].pin_memory().to(NPU, non_blocking=True)
                made.put((number, there, stream.record_event()))

    def consume():
        stream = torch.npu.Stream()
        for _ in datas:
            number, there, ready = made.get(timeout=120)
            with torch.npu.stream(stream):
                ready.wait()
                there.record_stream(stream)
                twin = there.clone()
                del there
                if not torch.equal(twin.cpu(), datas[number]):
                    wrong.append(number)

    def empty():
        while not stop.is_set():
            torch.npu.empty_cache()
            time.sleep(0.001)

    threads = [threading.Thread(target=produce, args=(first,)) for first in range(4)]
    threads.append(threading.Thread(target=consume))
    emptier = threading.Thread(target=empty)
    for thread in [*threads, emptier]:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    emptier.join()
    assert not wrong and made.empty(), wrong


@check("pinned memory: views, nested lists, many tensors at once")
def _():
    pinned = torch.empty(MIB, pin_memory=True)
    part = pinned[100:500100]
    assert part.is_pinned() and pinned.untyped_storage().is_pinned("npu")
    data = random_floats(500000)
    part.copy_(data)
    same(part.to(NPU, non_blocking=True), data)
    batch = torch.utils.data._utils.pin_memory.pin_memory({"a": [data, data + 1], "b": ("name", data)})
    assert batch["a"][1].is_pinned() and batch["b"][1].is_pinned()
    host = [random_floats(10000 + number).pin_memory() for number in range(50)]
    there = [torch.empty_like(tensor, device=NPU) for tensor in host]
    torch._foreach_copy_(there, host)
    for got, tensor in zip(there, host):
        same(got, tensor)


@check("views that need no kernel, and those that do")
def _():
    data = random_bytes(4 * 3 * 5 * 7 * 11 * 1300).view(torch.int32).view(3, 5, 7, 11, 1300)
    there = data.to(NPU)
    views = {
        "chunk": lambda t: t.chunk(3),
        "narrow": lambda t: t.narrow(0, 1, 2),
        "select": lambda t: t[1, 2],
        "unbind": lambda t: t.unbind(0),
        "squeeze": lambda t: t.unsqueeze(0).squeeze(0),
        "flatten": lambda t: t.flatten(),
        "view as another type": lambda t: t.view(torch.uint8),
        "unfold without overlap": lambda t: t.view(-1)[:1000000].unfold(0, 10, 10),
        "detach": lambda t: t.detach(),
    }
    for name, view in views.items():
        got, want = view(there), view(data)
        for one, other in zip(got, want) if isinstance(want, (list, tuple)) else [(got, want)]:
            assert one.untyped_storage().data_ptr() == there.untyped_storage().data_ptr(), name
            same(one, other)
    for name, view in {"Transpose": lambda t: t.permute(1, 0, 2, 3, 4), "Cast": lambda t: t.to(torch.float32)}.items():
        try:
            view(there).contiguous().cpu()
        except RuntimeError as error:
            assert name in str(error) and "207000" in str(error), error
        else:
            raise AssertionError(f"{name} was accepted")
    same(there, data)


@check("two graphs share a pool; a graph on several streams")
def _():
    first, second, third = (torch.empty(2 * MIB, dtype=torch.uint8, device=NPU) for _ in range(3))
    graphs = [torch.npu.NPUGraph() for _ in range(3)]
    with torch.npu.graph(graphs[0], pool=torch.npu.graph_pool_handle()):
        inside = first.clone()
        second.copy_(inside)
    with torch.npu.graph(graphs[1], pool=graphs[0].pool()):
        other = second.clone()
        third.copy_(other)
    stream, side = torch.npu.Stream(), torch.npu.Stream()
    fourth, fifth = torch.empty_like(first), torch.empty_like(first)
    with torch.npu.graph(graphs[2], stream=stream):
        side.wait_stream(stream)
        with torch.npu.stream(side):
            aside = first.clone()
        fourth.copy_(first)
        stream.wait_stream(side)
        fifth.copy_(aside)
    for _ in range(5):
        data = random_bytes(2 * MIB)
        first.copy_(data)
        for graph in graphs:
            graph.replay()
        torch.npu.synchronize()
        for got in (third, fourth, fifth):
            same(got, data)


@check("a capture that fails leaves the next one alone")
def _():
    source, target = (torch.empty(2 * MIB, dtype=torch.uint8, device=NPU) for _ in range(2))
    for fail in (torch.npu.synchronize, source.cpu):
        try:
            with torch.npu.graph(torch.npu.NPUGraph()):
                target.copy_(source)
                fail()
        except RuntimeError as error:
            assert "507903" in str(error) and "the capture became invalid" in str(error), error
        else:
            raise AssertionError("a capture that waits for the device")
    data = random_bytes(2 * MIB)
    source.copy_(data)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        target.copy_(source)
    graph.replay()
    same(target, data)


@check("a graph waits for an event from outside")
def _():
    source, target = (torch.empty(2 * MIB, dtype=torch.uint8, device=NPU) for _ in range(2))
    outside = torch.npu.ExternalEvent()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        outside.wait(torch.npu.current_stream())
        outside.reset(torch.npu.current_stream())
        target.copy_(source)
    stream = torch.npu.Stream()
    for _ in range(3):
        data, before = random_bytes(2 * MIB), random_bytes(2 * MIB)
        source.copy_(data)
        target.copy_(before)
        torch.npu.synchronize()
        graph.replay()
        outside.record(stream)
        torch.npu.synchronize()
        same(target, data)


@check("a graph is given up while it runs")
def _():
    source, target = (torch.empty(64 * MIB, dtype=torch.uint8, device=NPU) for _ in range(2))
    for how in ("reset", "del", "reset"):
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            for _ in range(10):
                target.copy_(source)
        data = random_bytes(64 * MIB)
        source.copy_(data)
        torch.npu.synchronize()
        graph.replay()
        # The library refuses (107037), the program warns and goes on; the run comes to its end.
        if how == "reset":
            graph.reset()
        del graph
        same(target, data)


@check("a graph is written down")
def _():
    source, target = (torch.empty(2 * MIB, dtype=torch.uint8, device=NPU) for _ in range(2))
    graph = torch.npu.NPUGraph()
    graph.enable_debug_mode()
    with torch.npu.graph(graph):
        target.copy_(source)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "graph.json")
        graph.debug_dump(path)
        with open(path) as file:
            text = json.dumps(json.load(file))
        # torch_npu's own copy of it, with the streams side by side.
        with open(os.path.join(directory, "graph.aligned.json")) as file:
            (aligned,) = json.load(file)
    assert aligned["args"]["task type"] == "copy", aligned
    assert f"{2 * MIB} bytes from {source.data_ptr():#x} to {target.data_ptr():#x}" in text, text


INTERRUPTED = """
import atexit, signal, sys, torch, torch_npu
data = torch.randint(0, 256, (8 << 20,), dtype=torch.uint8)
there, host = data.to("npu"), torch.empty(8 << 20, dtype=torch.uint8).pin_memory()
atexit.register(lambda: print("equal" if torch.equal(there.cpu(), data) else "different", flush=True))
signal.alarm(60)
print("begun", flush=True)
while True:
    host.copy_(there, non_blocking=True)
    torch.npu.synchronize()
"""


@check("Ctrl-C in the middle of copies")
def _():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.2)
        process.send_signal(2)
        rest, _ = process.communicate(timeout=100)
    assert rest == "equal\n" and process.returncode == -2, (rest, process.returncode)


assert torch_npu.__version__
finish()
