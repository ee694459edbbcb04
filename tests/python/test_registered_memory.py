"""Host memory of the program that the device may reach."""

import ctypes
import mmap
import os

from isolated import isolated

MIB = 1 << 20
MAPPED, PINNED = 0x2, 0x10000000
TO_DEVICE, TO_HOST = 1, 2
INVALID, UNSUPPORTED, REGISTERED, NOT_REGISTERED = 107000, 207000, 507910, 507911
HOST, UNREGISTERED = 0, 2


def start():
    """An initialised runtime with device 0."""
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    return acl


def pages(size):
    """Whole pages of the program's own, and their address."""
    memory = mmap.mmap(-1, size)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


@isolated
def test_copies_are_queued_and_the_bytes_are_right():
    acl = start()
    memory, host = pages(2 * MIB)
    sent = os.urandom(2 * MIB)
    memory[:] = sent
    alias, ret = acl.rt.host_register(host, 2 * MIB, 0)
    assert ret == 0 and alias not in (0, host)
    assert acl.rt.host_get_device_pointer(host, 0) == (alias, 0)
    assert acl.rt.host_get_device_pointer(host + 4097, 0) == (alias + 4097, 0)
    assert acl.rt.pointer_get_attributes(host + 5)[0]["location"]["type"] == HOST
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    device, ret = acl.rt.malloc(2 * MIB, 0)
    assert ret == 0
    assert acl.rt.memcpy_async(device, 2 * MIB, host, 2 * MIB, TO_DEVICE, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    memory[:] = bytes(2 * MIB)
    assert acl.rt.memcpy_async(host, 2 * MIB, device, 2 * MIB, TO_HOST, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert memory[:] == sent
    # Copies take the host address only.
    assert acl.rt.memcpy(device, 64, alias, 64, TO_DEVICE) == INVALID
    assert "host address" in acl.get_recent_err_msg()
    assert acl.rt.host_unregister(host) == 0
    assert acl.rt.host_unregister(host) == NOT_REGISTERED
    assert acl.rt.pointer_get_attributes(host)[0]["location"]["type"] == UNREGISTERED


@isolated
def test_what_cannot_be_registered():
    acl = start()
    memory, host = pages(MIB)
    assert acl.rt.host_register(host + 64, 4096, 0) == (0, INVALID)
    assert "4096" in acl.get_recent_err_msg()
    assert acl.rt.host_register(host, 4096, 8) == (0, UNSUPPORTED)
    assert acl.rt.host_register_v2(host, 4096, 0) == INVALID
    assert acl.rt.host_register_v2(host, MIB, PINNED) == 0
    assert acl.rt.host_register_v2(host + 4096, 4096, MAPPED) == REGISTERED
    assert acl.rt.host_get_device_pointer(host, 0) == (0, INVALID)
    assert acl.rt.host_unregister(host + 4096) == NOT_REGISTERED
    assert acl.rt.host_unregister(host) == 0
    assert len(memory) == MIB


@isolated(env={"CANNERY_PROFILE": "310P"})
def test_a_product_without_it():
    acl = start()
    _memory, host = pages(4096)
    assert acl.rt.host_register(host, 4096, 0) == (0, UNSUPPORTED)
    assert "910B" in acl.get_recent_err_msg()
