"""numpy-ascend (a CuPy): arrays, memory pools, streams, events."""

import os
import sys
import types

import numpy
from checks import check, finish

# The wheel forgets a module that it imports.
_missing = types.ModuleType("cupyx.scipy.fftpack")
_missing.get_fft_plan = None
sys.modules["cupyx.scipy.fftpack"] = _missing

import cupy  # noqa: E402 - after the module that it needs

MIB = 1 << 20
COUNT = int(os.environ.get("CANNERY_DEVICES", "1"))
_random = numpy.random.default_rng(20260822)


def random_array(count=2 * MIB + 3, dtype=numpy.uint8):
    """Random data of an odd size, the same in every run."""
    return _random.integers(0, 256, count * numpy.dtype(dtype).itemsize, dtype=numpy.uint8).view(dtype)


def same(left, right):
    """Equal types, shapes and bytes."""
    left, right = numpy.asarray(left), numpy.asarray(right)
    assert left.dtype == right.dtype and left.shape == right.shape, (left.dtype, left.shape, right.dtype, right.shape)
    assert left.tobytes() == right.tobytes(), "bytes differ"


@check("import cupy")
def _():
    assert cupy.__version__.startswith("14."), cupy.__version__


@check("device count and memory")
def _():
    assert cupy.cuda.runtime.getDeviceCount() == COUNT
    free, total = cupy.cuda.runtime.memGetInfo()
    assert 0 < free <= total == 64 << 30, (free, total)


@check("asarray and get")
def _():
    for dtype in (numpy.uint8, numpy.int32, numpy.float32, numpy.int64):
        data = random_array(MIB + 3, dtype)
        same(cupy.asarray(data).get(), data)


@check("asarray and get of several dimensions")
def _():
    data = random_array(513 * 1027, numpy.int32).reshape(513, 1027)
    same(cupy.asarray(data).get(), data)


@check("empty and set")
def _():
    data = random_array()
    there = cupy.empty(data.shape, dtype=data.dtype)
    there.set(data)
    same(there.get(), data)


@check("zeros")
def _():
    there = cupy.zeros(MIB + 5, dtype=cupy.int32)
    same(there.get(), numpy.zeros(MIB + 5, dtype=numpy.int32))


@check("slices without a kernel")
def _():
    data = random_array(1024 * 1031, numpy.int32).reshape(1024, 1031)
    there = cupy.asarray(data)
    same(there[100:900].get(), data[100:900])
    same(there[7].get(), data[7])
    new = random_array(300 * 1031, numpy.int32).reshape(300, 1031)
    there[200:500].set(new)
    data[200:500] = new
    same(there.get(), data)


@check("copies on the device")
def _():
    data = random_array()
    there, other = cupy.asarray(data), cupy.empty(data.shape, dtype=data.dtype)
    cupy.cuda.runtime.memcpy(other.data.ptr, there.data.ptr, data.nbytes, 3)
    same(other.get(), data)


@check("fills")
def _():
    there = cupy.empty(2 * MIB, dtype=cupy.uint8)
    there.data.memset(0xA5, 2 * MIB)
    same(there.get(), numpy.full(2 * MIB, 0xA5, dtype=numpy.uint8))


@check("memory pool")
def _():
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    free = cupy.cuda.runtime.memGetInfo()[0]
    used = pool.used_bytes()
    there = cupy.empty(64 * MIB, dtype=cupy.uint8)
    assert pool.used_bytes() - used == 64 * MIB
    assert free - cupy.cuda.runtime.memGetInfo()[0] >= 64 * MIB
    del there
    assert pool.used_bytes() == used
    pool.free_all_blocks()
    assert cupy.cuda.runtime.memGetInfo()[0] == free


@check("pinned pool")
def _():
    pool = cupy.get_default_pinned_memory_pool()
    pool.free_all_blocks()
    data = random_array(4 * MIB)
    block = cupy.cuda.alloc_pinned_memory(data.nbytes)
    pinned = numpy.frombuffer(block, dtype=numpy.uint8, count=data.size)
    pinned[:] = data
    there = cupy.empty(data.shape, dtype=data.dtype)
    stream = cupy.cuda.Stream(non_blocking=True)
    there.set(pinned, stream=stream)
    stream.synchronize()
    same(there.get(), data)
    del pinned, block
    assert pool.n_free_blocks() >= 1
    pool.free_all_blocks()


@check("streams")
def _():
    data = random_array(4 * MIB)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]
    there = []
    for stream in streams:
        with stream:
            one = cupy.empty(data.shape, dtype=data.dtype)
            one.set(data, stream=stream)
            there.append(one)
    for stream, one in zip(streams, there):
        same(one.get(stream=stream), data)
        stream.synchronize()
        assert stream.done


@check("events: timing")
def _():
    data = random_array(16 * MIB)
    stream = cupy.cuda.Stream(non_blocking=True)
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    there = cupy.empty(data.shape, dtype=data.dtype)
    start.record(stream)
    there.set(data, stream=stream)
    end.record(stream)
    end.synchronize()
    assert end.done
    assert cupy.cuda.get_elapsed_time(start, end) > 0
    same(there.get(), data)


@check("events: the wait of a stream is refused as documented")
def _():
    # The program makes its events without the flag that waits of streams need.
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    done = cupy.cuda.Event(disable_timing=True)
    done.record(first)
    try:
        second.wait_event(done)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        assert "ACL_EVENT_SYNC" in str(error), error
    else:
        raise AssertionError("accepted")


@check("peer queries")
def _():
    runtime = cupy.cuda.runtime
    if COUNT > 1:
        assert runtime.deviceCanAccessPeer(0, 1) == 1
    else:
        try:
            runtime.deviceCanAccessPeer(0, 1)
        except runtime.CUDARuntimeError as error:
            assert "107001" in str(error), error
        else:
            raise AssertionError("a device that is not there")


@check("questions about pointers")
def _():
    there = cupy.empty(MIB, dtype=cupy.uint8)
    attributes = cupy.cuda.runtime.pointerGetAttributes(there.data.ptr + 4097)
    assert attributes.device == 0, attributes.device


@check("out of memory")
def _():
    try:
        cupy.empty(65 << 30, dtype=cupy.uint8)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        assert "207001" in str(error) and "asked 65 GiB" in str(error), error
    else:
        raise AssertionError("more memory than the card has")
    data = random_array()
    same(cupy.asarray(data).get(), data)


@check("an operator is refused")
def _():
    there = cupy.asarray(random_array(1000, numpy.float32))
    for operator in (lambda: there + there, lambda: cupy.sin(there), lambda: there.fill(3), lambda: cupy.arange(10)):
        try:
            operator()
        except RuntimeError:
            continue  # the program prints the text, and raises with a code of its own
        raise AssertionError("a result without an operator")


finish()
