"""Memory calls of the runtime, as they look from Python."""

import os

from isolated import isolated, raises

KIB, MIB = 1 << 10, 1 << 20
OUT_OF_MEMORY, INVALID, NO_CONTEXT = 207001, 107000, 107002
BAD_PARAMETER = 100000


def start():
    """An initialised runtime with device 0."""
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    return acl


@isolated
def test_size_zero_is_a_code():
    acl = start()
    for result in (
        acl.rt.malloc(0, 0),
        acl.rt.malloc_cached(0, 0),
        acl.rt.malloc_align32(0, 0),
        acl.rt.malloc_with_cfg(0, 0, {}),
        acl.rt.malloc_host(0),
    ):
        assert result == (0, BAD_PARAMETER)
    assert acl.media.dvpp_malloc(0)[0] == 0 != acl.media.dvpp_malloc(0)[1]


@isolated
def test_a_wrapped_size_is_an_error_and_no_exception():
    acl = start()
    assert acl.rt.malloc(-1, 0) == (0, BAD_PARAMETER)
    assert acl.rt.malloc_cached(2**64 - 32, 0) == (0, BAD_PARAMETER)


@isolated
def test_policies():
    """Any number is a policy: outside the enum the size chooses the pages."""
    acl = start()
    for policy in (0, 1, 2, 99, -5, 2**31 - 1):
        pointer, ret = acl.rt.malloc_cached(3 * MIB, policy)
        assert ret == 0 and pointer % 64 == 0
        page = acl.rt.pointer_get_attributes(pointer)[0]["page_size"]
        assert page == (4 * KIB if policy == 2 else 2 * MIB), policy
        assert acl.rt.free(pointer) == 0
    pointer, ret = acl.rt.malloc_cached(2 * MIB - 1, 99)
    assert ret == 0 and acl.rt.pointer_get_attributes(pointer)[0]["page_size"] == 4 * KIB
    with raises(TypeError):
        acl.rt.malloc_cached(MIB, 2**31)


@isolated(env={"CANNERY_HBM_BYTES": "64M"})
def test_out_of_memory_is_a_code_with_a_text():
    acl = start()
    blocks = []
    while True:
        pointer, ret = acl.rt.malloc_cached(4 * MIB, 0)
        if ret != 0:
            break
        blocks.append(pointer)
    assert (pointer, ret) == (0, OUT_OF_MEMORY)
    assert 10 <= len(blocks) <= 16
    text = acl.get_recent_err_msg()
    assert "out of memory" in text and str(4 * MIB) in text
    assert acl.get_recent_err_msg() is None  # reading clears
    # What a retry cures is cured.
    assert acl.rt.free(blocks.pop()) == 0
    pointer, ret = acl.rt.malloc_cached(4 * MIB, 0)
    assert ret == 0
    for block in (*blocks, pointer):
        assert acl.rt.free(block) == 0


@isolated
def test_every_family_has_its_own_release():
    acl = start()
    device, _ = acl.rt.malloc(MIB, 0)
    host, _ = acl.rt.malloc_host(MIB)
    media, _ = acl.media.dvpp_malloc(MIB)
    media2, ret = acl.himpi.dvpp_malloc(0, MIB)
    assert ret == 0 and media2 % 128 == 0
    for wrong in (
        lambda: acl.rt.free(host),
        lambda: acl.rt.free(media),
        lambda: acl.rt.free(media2),
        lambda: acl.rt.free_host(device),
        lambda: acl.rt.free_host(media),
        lambda: acl.media.dvpp_free(device),
        lambda: acl.media.dvpp_free(host),
        lambda: acl.himpi.dvpp_free(device),
    ):
        assert wrong() != 0
        assert acl.get_recent_err_msg()
    # A failed call changed nothing.
    assert acl.rt.free(device) == acl.rt.free_host(host) == 0
    assert acl.media.dvpp_free(media) == acl.himpi.dvpp_free(media2) == 0


@isolated
def test_wrong_addresses_are_codes():
    acl = start()
    device, _ = acl.rt.malloc(MIB, 0)
    assert acl.rt.free(0) != 0
    assert acl.rt.free(device + 64) == INVALID
    assert acl.rt.free(12345) == INVALID
    assert acl.rt.free(-1) == INVALID
    assert acl.rt.free(device) == 0
    assert acl.rt.free(device) == INVALID
    assert acl.rt.free_host(0) != 0
    for address in (0, 1, -1, 2**63, device):
        for size in (1, MIB):
            assert acl.rt.mem_flush(address, size) in (0, BAD_PARAMETER, INVALID)


@isolated
def test_copies_check_room_and_kind():
    acl = start()
    device, _ = acl.rt.malloc(4 * KIB, 2)
    data = os.urandom(4 * KIB)
    source = acl.util.bytes_to_ptr(data)
    assert acl.rt.memcpy(device, KIB, source, 2 * KIB, 1) != 0
    assert acl.rt.memcpy(device, 4 * KIB, source, 4 * KIB, 99) != 0
    assert acl.rt.memcpy(device, 4 * KIB, source, 4 * KIB, 1) == 0
    assert acl.rt.memcpy(0, 0, 0, 0, 0) == 0  # nothing to do


@isolated
def test_device_memory_is_not_read_by_the_host():
    acl = start()
    import numpy  # noqa: F401

    for pointer in (acl.rt.malloc(MIB, 0)[0], acl.media.dvpp_malloc(MIB)[0]):
        for address in (pointer, pointer + 1000):
            with raises(ValueError, "memcpy"):
                acl.util.ptr_to_bytes(address, 16)
            with raises(ValueError, "memcpy"):
                acl.util.ptr_to_numpy(address, (16,), 2)
    assert acl.get_recent_err_msg() is None


@isolated
def test_released_memory_is_not_read_either():
    """A stale address is an exception, where a load would end the process."""
    acl = start()
    import numpy  # noqa: F401

    device, _ = acl.rt.malloc(MIB, 0)
    assert acl.rt.free(device) == 0
    with raises(ValueError):
        acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(bytes(100)), 2**62)
    for address in (device, device + 1000, 12345, 2**47 - 5, 2**63, -1):
        for size in (1, 16, MIB):
            with raises(ValueError):
                acl.util.ptr_to_bytes(address, size)
            with raises(ValueError):
                acl.util.ptr_to_numpy(address, (size,), 2)


@isolated
def test_rows():
    acl = start()
    width, height, pitch = 100, 50, 128
    device, _ = acl.rt.malloc(pitch * height, 2)
    data, result = os.urandom(width * height), bytes(width * height)
    source, target = acl.util.bytes_to_ptr(data), acl.util.bytes_to_ptr(result)
    assert acl.rt.memcpy2d(device, pitch, source, width, width, height, 1) == 0
    assert acl.rt.memcpy2d(target, width, device, pitch, width, height, 2) == 0
    assert result == data
    assert acl.rt.memcpy2d(device, width - 1, source, width, width, height, 1) != 0


@isolated
def test_large_copies_let_other_threads_run():
    """Another thread gets on in the middle of a copy, not only between two."""
    import sys
    import threading
    import time

    acl = start()
    size = 64 * MIB
    device, _ = acl.rt.malloc(size, 0)
    data = bytes(size)
    source = acl.util.bytes_to_ptr(data)
    assert acl.rt.memcpy(device, size, source, size, 1) == 0
    seen, end = [], threading.Event()

    def look_at_the_clock():
        while not end.is_set():
            seen.append(time.perf_counter())
            if len(seen) > 100_000:
                del seen[:50_000]

    # Whoever waits for the interpreter gets it soon, and hands it back soon.
    sys.setswitchinterval(1e-5)
    clock = threading.Thread(target=look_at_the_clock)
    clock.start()
    try:
        # A busy machine may leave the other thread out of many copies, but not of all.
        for _ in range(200):
            began = time.perf_counter()
            assert acl.rt.memcpy(device, size, source, size, 1) == 0
            took = time.perf_counter() - began
            middle = (began + took / 4, began + took * 3 / 4)
            if any(middle[0] < moment < middle[1] for moment in list(seen)):
                return
        raise AssertionError("no other thread ran in the middle of 200 copies")
    finally:
        end.set()
        clock.join()


@isolated
def test_pointer_attributes():
    acl = start()
    device, _ = acl.rt.malloc(MIB, 0)
    host, _ = acl.rt.malloc_host(MIB)
    payload = bytes(100)
    kinds = {device: 1, device + 100: 1, host: 0, host + 100: 0, acl.util.bytes_to_ptr(payload): 2, 5: 2, 2**64 - 1: 2}
    for address, kind in kinds.items():
        attributes, ret = acl.rt.pointer_get_attributes(address)
        assert ret == 0
        assert attributes["location"]["type"] == kind, hex(address)
    assert acl.rt.pointer_get_attributes(0)[1] == BAD_PARAMETER


@isolated
def test_allocation_with_attributes():
    acl = start()
    config = {"attrs": [{"attr": 1, "value": {"moduleId": 33}}], "numAttrs": 1}
    for pointer, ret in (
        acl.rt.malloc_with_cfg(MIB, 0, config),
        acl.rt.malloc_with_cfg(MIB, 0, {}),
        acl.rt.malloc_for_task_scheduler(MIB, 0, config),
    ):
        assert ret == 0
        assert acl.rt.free(pointer) == 0
    host, ret = acl.rt.malloc_host_with_cfg(MIB, config)
    assert ret == 0
    assert acl.rt.free_host(host) == 0
    other_device = {"attrs": [{"attr": 2, "value": {"deviceId": 5}}], "numAttrs": 1}
    assert acl.rt.malloc_with_cfg(MIB, 0, other_device) == (0, INVALID)


@isolated
def test_memory_info_comes_back_to_where_it_was():
    acl = start()
    before = acl.rt.get_mem_info(1)
    assert before == acl.rt.get_mem_info(1)
    blocks = [acl.rt.malloc(size, 0)[0] for size in (1, 64, 4 * KIB, MIB, 5 * MIB)]
    free, total, ret = acl.rt.get_mem_info(1)
    assert ret == 0 and free < before[0] and total == before[1]
    for block in blocks:
        assert acl.rt.free(block) == 0
    assert acl.rt.get_mem_info(1) == before
    assert acl.rt.get_mem_info(99)[:2] == (0, 0) and acl.rt.get_mem_info(99)[2] != 0
