"""Kernels, built by the compiler of this machine, over device memory."""

import array
import ctypes
import mmap
import os
import struct
import subprocess
import tempfile
from pathlib import Path

from isolated import isolated

ROOT = Path(__file__).resolve().parent.parent.parent
KERNELS = ROOT / "tests" / "c" / "kernels"
COUNT = 300_007
BYTES = COUNT * 4
TO_DEVICE, TO_HOST = 1, 2
INVALID, NO_FILE, NO_FUNCTION, DEAD = 107000, 107009, 507027, 107017


def build(folder):
    """The kernels of the C programs as a shared object."""
    out = Path(folder) / "arithmetic.so"
    compiler = os.environ.get("CC", "cc").split()
    flags = ["-std=c99", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    subprocess.run([*compiler, *flags, str(KERNELS / "arithmetic.c"), "-o", str(out)], check=True)
    return str(out)


def start():
    """An initialised runtime with device 0, and a stream."""
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    return acl, stream


def upload(acl, numbers):
    """Device memory with these numbers."""
    block, ret = acl.rt.malloc(BYTES, 0)
    assert ret == 0
    start, _ = numbers.buffer_info()
    assert acl.rt.memcpy(block, BYTES, start, BYTES, TO_DEVICE) == 0
    return block


def download(acl, block):
    """The numbers in device memory."""
    numbers = array.array("I", bytes(BYTES))
    start, _ = numbers.buffer_info()
    assert acl.rt.memcpy(start, BYTES, block, BYTES, TO_HOST) == 0
    return numbers


@isolated
def test_every_launch_adds():
    acl, stream = start()
    with tempfile.TemporaryDirectory() as folder:
        path = build(folder)
        data = Path(path).read_bytes()
        binary, ret = acl.rt.binary_load_from_file(path, [])
        assert ret == 0
    keep = ctypes.create_string_buffer(data, len(data))
    other, ret = acl.rt.binary_load_from_data(ctypes.addressof(keep), len(data), [])
    assert ret == 0
    host = [array.array("I", os.urandom(BYTES)) for _ in range(2)]
    want = array.array("I", ((x + y) & 0xFFFFFFFF for x, y in zip(*host)))
    x, y = (upload(acl, numbers) for numbers in host)
    z = upload(acl, host[0])
    args = struct.pack("<QQQQ", x, y, z, COUNT)
    memory = ctypes.create_string_buffer(args, len(args))
    at = ctypes.addressof(memory)

    def check(ret):
        assert ret == 0, acl.get_recent_err_msg()
        assert acl.rt.synchronize_stream(stream) == 0
        assert download(acl, z) == want
        assert acl.rt.memset(z, BYTES, 0xEE, BYTES) == 0

    for handle in (binary, other):
        add, ret = acl.rt.binary_get_function(handle, "add")
        assert ret == 0
        assert acl.rt.get_function_name(add, 16) == ("add", 0)
        check(acl.rt.launch_kernel_with_host_args(add, 7, stream, [], at, len(args), [], 0))
        on_device, ret = acl.rt.malloc(len(args), 0)
        assert ret == 0
        assert acl.rt.memcpy(on_device, len(args), at, len(args), TO_DEVICE) == 0
        check(acl.rt.launch_kernel(add, 3, on_device, len(args), stream))
        assert acl.rt.free(on_device) == 0
        values, ret = acl.rt.kernel_args_init(add)
        assert ret == 0
        for offset in range(0, len(args), 8):
            _, ret = acl.rt.kernel_args_append(values, at + offset, 8)
            assert ret == 0
        assert acl.rt.launch_kernel_with_config(add, 5, stream, [], values, 0) == INVALID
        assert acl.rt.kernel_args_finalize(values) == 0
        check(acl.rt.launch_kernel_with_config(add, 5, stream, [], values, 0))
        assert acl.rt.binary_unload(handle) == 0
        assert acl.rt.launch_kernel_with_config(add, 5, stream, [], values, 0) == DEAD


@isolated
def test_what_is_no_binary():
    acl, _ = start()
    assert acl.rt.binary_load_from_file("/no/such/file.so", []) == (0, NO_FILE)
    assert acl.rt.binary_load_from_file(__file__, []) == (0, INVALID)
    assert "EE1014" in acl.get_recent_err_msg()
    with tempfile.TemporaryDirectory() as folder:
        binary, ret = acl.rt.binary_load_from_file(build(folder), [])
        assert ret == 0
    assert acl.rt.binary_get_function(binary, "no_such_kernel") == (0, NO_FUNCTION)
    assert acl.rt.binary_unload(binary) == 0


@isolated
def test_a_kernel_reaches_registered_memory_by_its_device_address():
    acl, stream = start()
    with tempfile.TemporaryDirectory() as folder:
        binary, ret = acl.rt.binary_load_from_file(build(folder), [])
        assert ret == 0
    memory = mmap.mmap(-1, 1 << 20)
    numbers = [array.array("I", os.urandom(1 << 18)) for _ in range(2)]
    memory[: 1 << 18] = numbers[0].tobytes()
    memory[1 << 18 : 1 << 19] = numbers[1].tobytes()
    host = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    device, ret = acl.rt.host_register(host, 1 << 20, 0)
    assert ret == 0 and device != host
    add, ret = acl.rt.binary_get_function(binary, "add")
    assert ret == 0
    args = struct.pack("<QQQQ", device, device + (1 << 18), device + (1 << 19), 1 << 16)
    keep = ctypes.create_string_buffer(args, len(args))
    at = ctypes.addressof(keep)
    assert acl.rt.launch_kernel_with_host_args(add, 9, stream, [], at, len(args), [], 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    want = array.array("I", ((x + y) & 0xFFFFFFFF for x, y in zip(*numbers)))
    assert memory[1 << 19 : (1 << 19) + (1 << 18)] == want.tobytes()
    assert acl.rt.host_unregister(host) == 0
