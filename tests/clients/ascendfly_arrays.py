"""ascendfly: arrays of a framework on the Python module acl: contexts, device, media and pinned memory."""

import threading

import acl
import ascend
import numpy
from checks import check, finish

MIB = 1 << 20
_random = numpy.random.default_rng(20261130)
kept = {}


def random_array(count=2 * MIB + 3, dtype=numpy.uint8):
    """Random data of an odd size."""
    return _random.integers(0, 256, count * numpy.dtype(dtype).itemsize, dtype=numpy.uint8).view(dtype)


def same(left, right):
    """Equal types, shapes and bytes."""
    left, right = numpy.asarray(left), numpy.asarray(right)
    assert left.dtype == right.dtype and left.shape == right.shape, (left.dtype, left.shape, right.dtype, right.shape)
    assert left.tobytes() == right.tobytes(), "bytes differ"


def context():
    return kept["resource"].context_dict[0]


@check("a context, which initialises")
def _():
    kept["resource"] = ascend.Context({0})
    assert ascend.device_num() == 1 and ascend.run_mode() == 1
    ascend.bind_context(context())


@check("arrays of every type come back")
def _():
    for dtype in (numpy.uint8, numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.float64):
        data = random_array(MIB + 3, dtype)
        array = ascend.AscendArray.clone(data, context=context())
        same(array.to_np, data)


@check("arrays in media memory; pinned memory")
def _():
    data = random_array(3 * MIB + 5)
    array = ascend.AscendArray.clone(data, context=context(), flag="DVPP")
    assert array.flag == "DVPP", array.flag
    same(array.to_np, data)
    pinned = ascend.Memory(context(), data.nbytes, "HOST")
    assert acl.rt.memcpy(pinned.ptr, data.nbytes, array.ascend_data, data.nbytes, 2) == 0
    assert acl.util.ptr_to_bytes(pinned.ptr, data.nbytes) == data.tobytes()
    pinned.free()


@check("several dimensions, reshape")
def _():
    data = random_array(513 * 1027, numpy.int32).reshape(513, 1027)
    array = ascend.AscendArray.clone(data, context=context())
    same(array.to_np, data)
    array.reshape((1027, 513))
    same(array.to_np, data.reshape(1027, 513))


@check("a copy from array to array")
def _():
    data, other = random_array(4 * MIB), random_array(4 * MIB)
    source = ascend.AscendArray.clone(data, context=context())
    target = ascend.AscendArray.clone(other, context=context())
    source.to(target)
    same(target.to_np, data)
    same(source.to_np, data)


@check("memory: fill, figures, release")
def _():
    memory = ascend.Memory(context(), 5 * MIB, "DEVICE")
    free, total, code = acl.rt.get_mem_info(1)
    assert code == 0 and 0 < free < total == 64 << 30, (free, total, code)
    memory.reset(memory.ptr, 5 * MIB, 0xA5)
    host, code = acl.rt.malloc_host(5 * MIB)
    assert code == 0
    assert acl.rt.memcpy(host, 5 * MIB, memory.ptr, 5 * MIB, 2) == 0
    assert acl.util.ptr_to_bytes(host, 5 * MIB) == b"\xa5" * (5 * MIB)
    assert acl.rt.free_host(host) == 0
    memory.free()
    later, _, _ = acl.rt.get_mem_info(1)
    assert later >= free + 5 * MIB, (free, later)


@check("threads bind the context and copy")
def _():
    wrong = []

    def work(seed):
        ascend.bind_context(context())
        random = numpy.random.default_rng(seed)
        for _ in range(20):
            data = random.integers(0, 256, MIB + seed, dtype=numpy.uint8)
            array = ascend.AscendArray.clone(data, context=context())
            if array.to_np.tobytes() != data.tobytes():
                wrong.append("bytes differ")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


@check("the end of the context is the end of it all")
def _():
    free, total, _ = acl.rt.get_mem_info(1)
    assert free == total, (free, total)
    kept.clear()  # destroys the context, resets the device, finalises
    ascend.Context._inst = None
    assert acl.finalize() != 0, "not finalised before"


finish()
