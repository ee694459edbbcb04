"""MindSpore: tensors moved to the device and back, its pool of mapped memory, streams, events."""

import os
import subprocess
import sys
import threading

import mindspore
import numpy
from checks import check, finish

MIB = 1 << 20
_random = numpy.random.default_rng(os.getpid())

CHILD = """
import sys, mindspore, numpy
mindspore.set_device("Ascend", 0)
data = numpy.random.default_rng(int(sys.argv[1])).integers(0, 2**31, 3 << 20, dtype=numpy.int32)
tensor = mindspore.Tensor(data).move_to("Ascend")
print("moved", flush=True)
sys.stdin.readline()
print("equal" if tensor.asnumpy().tobytes() == data.tobytes() else "different", flush=True)
"""


def random_array(count=2 * MIB + 3, dtype=numpy.uint8):
    """Random data of an odd size."""
    return _random.integers(0, 256, count * numpy.dtype(dtype).itemsize, dtype=numpy.uint8).view(dtype)


def same(tensor, data):
    """Equal types, shapes and bytes."""
    got = tensor.asnumpy()
    assert got.dtype == data.dtype and got.shape == data.shape, (got.dtype, got.shape, data.dtype, data.shape)
    assert got.tobytes() == data.tobytes(), "bytes differ"


def on_device(data, **how):
    """The data as a tensor of the device."""
    tensor = mindspore.Tensor(data).move_to("Ascend", **how)
    assert tensor.device.startswith("Ascend"), tensor.device
    return tensor


@check("set_device")
def _():
    mindspore.set_device("Ascend", 0)
    assert mindspore.hal.device_count() == 1


@check("move_to and asnumpy, every data type")
def _():
    for dtype in (numpy.uint8, numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint16, numpy.uint32):
        data = random_array(MIB + 3, dtype)
        same(on_device(data), data)
    for dtype in (numpy.float16, numpy.float32, numpy.float64, numpy.bool_):
        data = (random_array(MIB + 3) % 2).astype(dtype)
        same(on_device(data), data)


@check("device properties")
def _():
    text = str(mindspore.hal.get_device_properties(0))
    assert "Ascend910B3" in text and "total_memory=65536MB" in text, text


@check("several dimensions")
def _():
    data = random_array(513 * 1027, numpy.int32).reshape(513, 1027)
    same(on_device(data), data)


@check("move_to the host and the device again")
def _():
    data = random_array(3 * MIB)
    tensor = on_device(data)
    for _ in range(3):
        tensor = tensor.move_to("CPU")
        assert tensor.device.startswith("CPU"), tensor.device
        same(tensor, data)
        tensor = tensor.move_to("Ascend")
    same(tensor, data)


@check("move_to that does not block")
def _():
    data = [random_array(MIB + index) for index in range(20)]
    tensors = [on_device(one, blocking=False) for one in data]
    mindspore.runtime.synchronize()
    for tensor, one in zip(tensors, data):
        same(tensor, one)


@check("pinned memory")
def _():
    data = random_array(5 * MIB)
    pinned = mindspore.Tensor(data).pin_memory()
    assert pinned.is_pinned()
    same(pinned, data)
    same(pinned.move_to("Ascend", blocking=False), data)


@check("streams and events")
def _():
    runtime = mindspore.runtime
    data = random_array(4 * MIB)
    stream = runtime.Stream()
    start, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    with runtime.StreamCtx(stream):
        start.record()
        tensor = on_device(data, blocking=False)
        end.record()
    end.wait(runtime.current_stream())
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    stream.synchronize()
    assert stream.query()
    same(tensor, data)


@check("many streams")
def _():
    runtime = mindspore.runtime
    kept = []
    for index in range(30):
        stream, data = runtime.Stream(), random_array(MIB + index)
        with runtime.StreamCtx(stream):
            kept.append((stream, on_device(data, blocking=False), data))
    for stream, tensor, data in kept:
        stream.synchronize()
        same(tensor, data)


@check("figures of the pool")
def _():
    runtime = mindspore.runtime
    before = runtime.memory_allocated()
    tensor = on_device(random_array(8 * MIB))
    held = runtime.memory_allocated() - before
    assert 8 * MIB <= held < 9 * MIB, held
    assert runtime.max_memory_allocated() >= before + held
    assert runtime.memory_reserved() >= runtime.memory_allocated()
    assert runtime.memory_stats()["total_allocated_memory"] == before + held
    assert "Memory summary" in runtime.memory_summary()
    del tensor
    assert runtime.memory_allocated() == before, "not given back"


@check("empty_cache gives memory back to the card")
def _():
    runtime = mindspore.runtime
    tensors = [on_device(random_array(32 * MIB)) for _ in range(4)]
    full = runtime.memory_reserved()
    assert full >= 128 * MIB, full
    del tensors
    runtime.empty_cache()
    assert runtime.memory_reserved() <= full - 96 * MIB, (runtime.memory_reserved(), full)
    data = random_array(64 * MIB)
    same(on_device(data), data)


@check("threads move tensors at the same time")
def _():
    wrong = []

    def work():
        for _ in range(10):
            data = numpy.random.default_rng().integers(0, 256, MIB + 5, dtype=numpy.uint8)
            if on_device(data).asnumpy().tobytes() != data.tobytes():
                wrong.append("bytes differ")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


@check("two other processes on the card")
def _():
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for seed in (1, 2)
    ]
    for child in children:
        assert child.stdout.readline() == "moved\n"
    data = random_array(7 * MIB)
    same(on_device(data), data)
    for child in children:
        said, _ = child.communicate("\n")
        assert said == "equal\n" and child.returncode == 0, (said, child.returncode)


@check("an operator is refused by name")
def _():
    tensor = on_device(numpy.ones(4, numpy.float32))
    try:
        (tensor + 1).asnumpy()
    except RuntimeError as error:
        assert "aclnnAdds" in str(error), error
    else:
        raise AssertionError("an operator ran")
    same(tensor, numpy.ones(4, numpy.float32))


@check("a compiled graph is refused with a text")
def _():
    try:
        on_device(numpy.ones(4, numpy.int32)).copy().asnumpy()
    except RuntimeError as error:
        assert "memory, not operators" in str(error), error
    else:
        raise AssertionError("a graph was compiled")


finish()
