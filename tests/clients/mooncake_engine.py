"""mooncake-transfer-engine-npu: engine and store, registered memory, transfers on this machine."""

import ctypes

from checks import check, finish

MIB = 1 << 20
acl = ctypes.CDLL("libascendcl.so")


def ok(code, what):
    assert code == 0, f"{what}: {code}"


ok(acl.aclInit(None), "aclInit")
ok(acl.aclrtSetDevice(0), "aclrtSetDevice")

import os  # noqa: E402

from mooncake.engine import TransferEngine  # noqa: E402

_engine = TransferEngine()


def device_block(data):
    block = ctypes.c_void_p()
    ok(acl.aclrtMalloc(ctypes.byref(block), ctypes.c_size_t(len(data)), 0), "aclrtMalloc")
    ok(
        acl.aclrtMemcpy(block, ctypes.c_size_t(len(data)), data, ctypes.c_size_t(len(data)), 1),
        "aclrtMemcpy",
    )
    return block


def read(block, size):
    out = ctypes.create_string_buffer(size)
    ok(acl.aclrtMemcpy(out, ctypes.c_size_t(size), block, ctypes.c_size_t(size), 2), "aclrtMemcpy")
    return out.raw


@check("engine and store import")
def _():
    import mooncake.store

    assert mooncake.store.MooncakeDistributedStore


@check("initialise")
def _():
    assert _engine.initialize("127.0.0.1", "P2PHANDSHAKE", "ascend", "") == 0


@check("register and unregister device and host memory")
def _():
    block = device_block(os.urandom(2 * MIB))
    host = ctypes.create_string_buffer(2 * MIB)
    for address in (block.value, ctypes.addressof(host)):
        assert _engine.register_memory(address, 2 * MIB) == 0, hex(address)
        assert _engine.unregister_memory(address) == 0, hex(address)
    ok(acl.aclrtFree(block), "aclrtFree")


@check("transfers between blocks of this process")
def _():
    data = os.urandom(2 * MIB + 3)
    source, target = device_block(data), device_block(os.urandom(2 * MIB + 3))
    for block in (source, target):
        assert _engine.register_memory(block.value, len(data)) == 0
    name = f"127.0.0.1:{_engine.get_rpc_port()}"
    assert _engine.transfer_sync_write(name, source.value, target.value, len(data)) == 0
    assert read(target, len(data)) == data, "write: bytes differ"
    new = os.urandom(len(data))
    ok(acl.aclrtMemcpy(target, ctypes.c_size_t(len(new)), new, ctypes.c_size_t(len(new)), 1), "aclrtMemcpy")
    assert _engine.transfer_sync_read(name, source.value, target.value, len(new)) == 0
    assert read(source, len(new)) == new, "read: bytes differ"
    for block in (source, target):
        assert _engine.unregister_memory(block.value) == 0
        ok(acl.aclrtFree(block), "aclrtFree")


finish()
