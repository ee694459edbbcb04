"""The calls of a first program, as a user would write it, with the bytes compared."""

import os

from isolated import isolated

MIB = 1 << 20
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS = 1, 2, 3, 4
HUGE_FIRST = 0
DEVICE = 0


def check(ret):
    """What programs call check_ret."""
    import acl

    assert ret == 0, f"code {ret}: {acl.get_recent_err_msg()}"


@isolated
def test_the_walk_through_the_mission():
    import acl

    check(acl.init())
    check(acl.rt.set_device(DEVICE))
    free_before, total, ret = acl.rt.get_mem_info(1)
    check(ret)
    assert 0 < free_before <= total

    device, ret = acl.rt.malloc_cached(MIB, HUGE_FIRST)
    check(ret)
    assert device % 64 == 0

    data = os.urandom(MIB)
    check(acl.rt.memcpy(device, MIB, acl.util.bytes_to_ptr(data), MIB, HOST_TO_DEVICE))
    check(acl.rt.mem_flush(device, MIB))
    check(acl.rt.mem_invalidate(device, MIB))

    # The way the samples do it: copy straight into a new bytes object.
    result = bytes(MIB)
    check(acl.rt.memcpy(acl.util.bytes_to_ptr(result), MIB, device, MIB, DEVICE_TO_HOST))
    assert result == data

    host, ret = acl.rt.malloc_host(MIB)
    check(ret)
    assert host % 64 == 0
    check(acl.rt.memcpy(host, MIB, device, MIB, DEVICE_TO_HOST))
    assert acl.util.ptr_to_bytes(host, MIB) == data

    picture, ret = acl.media.dvpp_malloc(MIB)
    check(ret)
    assert picture % 128 == 0
    check(acl.rt.memcpy(picture, MIB, host, MIB, HOST_TO_DEVICE))
    check(acl.rt.memset(host, MIB, 0, MIB))
    assert acl.util.ptr_to_bytes(host, MIB) == bytes(MIB)
    check(acl.rt.memcpy(host, MIB, picture, MIB, DEVICE_TO_HOST))
    assert acl.util.ptr_to_bytes(host, MIB) == data

    check(acl.media.dvpp_free(picture))
    check(acl.rt.free_host(host))
    check(acl.rt.free(device))
    assert acl.rt.get_mem_info(1) == (free_before, total, 0)
    check(acl.rt.reset_device(DEVICE))
    check(acl.finalize())


@isolated
def test_numpy_round_trip():
    """Arrays in, arrays out, with the sizes that NumPy gives."""
    import acl
    import numpy

    check(acl.init())
    check(acl.rt.set_device(DEVICE))
    image = numpy.random.default_rng(7).integers(0, 256, (3, 224, 224), dtype=numpy.uint8)
    size = numpy.prod(image.shape)  # a numpy.int64
    device, ret = acl.rt.malloc(size, HUGE_FIRST)
    check(ret)
    payload = image.tobytes()
    check(acl.rt.memcpy(device, size, acl.util.bytes_to_ptr(payload), size, HOST_TO_DEVICE))
    copy = numpy.empty_like(image)
    check(acl.rt.memcpy(copy.ctypes.data, copy.nbytes, device, size, BY_ADDRESS))
    assert (copy == image).all()
    output = bytes(int(size))
    check(acl.rt.memcpy(acl.util.bytes_to_ptr(output), size, device, size, DEVICE_TO_HOST))
    assert (numpy.frombuffer(output, numpy.uint8).reshape(image.shape) == image).all()
    check(acl.rt.free(device))
    check(acl.rt.reset_device(DEVICE))
    check(acl.finalize())


@isolated
def test_pinned_memory_as_an_array():
    import warnings

    import acl
    import numpy

    warnings.simplefilter("ignore")
    check(acl.init())
    check(acl.rt.set_device(DEVICE))
    host, ret = acl.rt.malloc_host(4096)
    check(ret)
    array = acl.util.ptr_to_numpy(host, (16, 64), 11)
    array[:] = numpy.arange(1024, dtype=numpy.float32).reshape(16, 64)
    device, ret = acl.rt.malloc(4096, 2)
    check(ret)
    check(acl.rt.memcpy(device, 4096, acl.util.numpy_to_ptr(array), 4096, HOST_TO_DEVICE))
    other, ret = acl.rt.malloc(4096, 2)
    check(ret)
    check(acl.rt.memcpy(other, 4096, device, 4096, DEVICE_TO_DEVICE))
    array[:] = 0
    check(acl.rt.memcpy(host, 4096, other, 4096, DEVICE_TO_HOST))
    assert array.ravel().tolist() == list(range(1024))
    del array
    for pointer in (device, other):
        check(acl.rt.free(pointer))
    check(acl.rt.free_host(host))


@isolated
def test_a_data_buffer():
    import acl

    check(acl.init())
    check(acl.rt.set_device(DEVICE))
    device, ret = acl.rt.malloc(1000, 0)
    check(ret)
    buffer = acl.create_data_buffer(device, 1000)
    assert buffer != 0
    assert acl.get_data_buffer_addr(buffer) == device
    assert acl.get_data_buffer_size(buffer) == acl.get_data_buffer_size_v2(buffer) == 1000
    check(acl.update_data_buffer(buffer, device + 8, 900))
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)) == (device + 8, 900)
    check(acl.destroy_data_buffer(buffer))
    check(acl.rt.free(device))


@isolated
def test_the_tail_of_a_sample_in_reverse_order():
    """Explicit contexts, as nearly every sample has them."""
    import acl

    check(acl.init())
    context, ret = acl.rt.create_context(DEVICE)
    check(ret)
    assert acl.rt.get_context() == (context, 0)
    mode, ret = acl.rt.get_run_mode()
    check(ret)
    assert mode == 1
    device, ret = acl.rt.malloc(100, 0)
    check(ret)
    check(acl.rt.free(device))
    check(acl.rt.destroy_context(context))
    assert acl.rt.malloc(100, 0) == (0, 107002)
    check(acl.finalize())


@isolated(env={"CANNERY_MODE": "rc", "CANNERY_PROFILE": "310B"})
def test_on_the_device_itself_memory_is_read_directly():
    """In device run mode programs call ptr_to_bytes on device memory, and it works."""
    import acl

    check(acl.init())
    check(acl.rt.set_device(DEVICE))
    assert acl.rt.get_run_mode() == (0, 0)
    device, ret = acl.rt.malloc(4096, 2)
    check(ret)
    data = os.urandom(4096)
    check(acl.rt.memcpy(device, 4096, acl.util.bytes_to_ptr(data), 4096, DEVICE_TO_DEVICE))
    assert acl.util.ptr_to_bytes(device, 4096) == data
    check(acl.rt.free(device))
