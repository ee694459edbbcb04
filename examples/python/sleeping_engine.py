"""The memory of an engine that can sleep, with the `acl` module: addresses are
reserved once, memory is mapped under them on demand, given back while the
engine sleeps, and mapped again at the same addresses when it wakes. Its bytes
wait in pinned host memory. Checks every code and every byte.

It is run as
  cannery run -- python3 sleeping_engine.py
  cannery run --profile A3 --hbm 512M --huge 448M -- python3 sleeping_engine.py
  cannery run --profile 310P --hbm 512M --huge 448M --pin off -- python3 sleeping_engine.py
"""

import random
import sys

import acl

MIB = 1 << 20

# The module has no constants; every program brings the ones it needs.
ACL_ERROR_RT_PARAM_INVALID = 107000
ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST = 1, 2
ACL_HBM_MEM, ACL_MEM_HUGE = 1, 13
ACL_MEM_LOCATION_TYPE_DEVICE = 1
ON_DEVICE = {
    "handleType": 0,
    "allocationType": 0,
    "memAttr": ACL_MEM_HUGE,
    "location": {"id": 0, "type": ACL_MEM_LOCATION_TYPE_DEVICE},
    "reserve": 0,
}


def check(code, expected=0):
    """Ends the program unless a call returned what was expected."""
    text = acl.get_recent_err_msg() if code != 0 else None
    if code != expected:
        raise SystemExit(f"code {code}, expected {expected}: {text}")


def good(answer):
    """The value of a `(value, code)` answer."""
    value, code = answer
    check(code)
    return value


def require(condition, what):
    """Ends the program unless something holds."""
    if not condition:
        raise SystemExit(f"not true: {what}")


def free_bytes():
    """Free memory of the device, in bytes."""
    free, _total, code = acl.rt.get_mem_info(ACL_HBM_MEM)
    check(code)
    return free


class Pool:
    """A range of addresses, with memory under its first part while awake."""

    def __init__(self, most):
        self.unit = good(acl.rt.mem_get_allocation_granularity(ON_DEVICE, 1))
        self.base = good(acl.rt.reserve_mem_address(most, 0, 0, 0))
        self.sizes = []  # of the mappings, one after the other
        self.used = 0
        self.saved = None

    def mapped(self):
        """Bytes that have memory."""
        return sum(self.sizes)

    def map_more(self, size):
        """Memory behind what is mapped. It lives as long as the mapping."""
        handle = good(acl.rt.malloc_physical(size, ON_DEVICE, 0))
        check(acl.rt.map_mem(self.base + self.mapped(), size, 0, handle, 0))
        check(acl.rt.free_physical(handle))
        self.sizes.append(size)

    def allocate(self, size):
        """An address; blocks lie one behind the other."""
        at, self.used = self.used, self.used + (size + 511) // 512 * 512
        if self.used > self.mapped():
            more = self.used - self.mapped()
            self.map_more((more + self.unit - 1) // self.unit * self.unit)
        return self.base + at

    def unmap(self):
        """Gives all memory back; returns the sizes of the mappings."""
        at = self.base
        for size in self.sizes:
            check(acl.rt.unmap_mem(at))
            at += size
        sizes, self.sizes = self.sizes, []
        return sizes

    def sleep(self):
        """Saves everything and gives the memory back."""
        size = self.mapped()
        host = good(acl.rt.malloc_host(size))
        check(acl.rt.memcpy(host, size, self.base, size, ACL_MEMCPY_DEVICE_TO_HOST))
        self.saved = (host, self.unmap())

    def wake(self):
        """Maps memory at the same addresses and restores everything."""
        host, sizes = self.saved
        for size in sizes:
            self.map_more(size)
        size = self.mapped()
        check(acl.rt.memcpy(self.base, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE))
        check(acl.rt.free_host(host))
        self.saved = None

    def close(self):
        """Gives memory and addresses back."""
        self.unmap()
        check(acl.rt.release_mem_address(self.base))


def holds(block, sent):
    """Whether a block holds its bytes."""
    back = bytes(len(sent))
    pointer = acl.util.bytes_to_ptr(back)
    check(acl.rt.memcpy(pointer, len(back), block, len(back), ACL_MEMCPY_DEVICE_TO_HOST))
    return back == sent


def main():
    """The whole walk."""
    check(acl.init())
    check(acl.rt.set_device(0))
    print(f"An engine that sleeps, in Python, on {acl.get_soc_name()}")
    base = free_bytes()
    pool = Pool(256 * MIB)
    layers = []
    for layer in range(12):
        sent = random.Random(layer).randbytes(3 * MIB + layer * 12345)
        block = pool.allocate(len(sent))
        check(acl.rt.memcpy(block, len(sent), acl.util.bytes_to_ptr(sent), len(sent), ACL_MEMCPY_HOST_TO_DEVICE))
        layers.append((block, sent))
    awake = pool.mapped()
    require(free_bytes() == base - awake, "what is mapped is what is used")
    print(f"  awake     {awake // MIB} MiB mapped at {pool.base:#x}")
    for _ in range(5):
        pool.sleep()
        require(free_bytes() == base, "an engine that sleeps holds nothing")
        block, sent = layers[0]
        host = good(acl.rt.malloc_host(MIB))
        refused = acl.rt.memcpy(host, MIB, block, MIB, ACL_MEMCPY_DEVICE_TO_HOST)
        check(refused, ACL_ERROR_RT_PARAM_INVALID)
        check(acl.rt.free_host(host))
        pool.wake()
        require(pool.mapped() == awake and free_bytes() == base - awake, "awake as before")
        require(all(holds(*layer) for layer in layers), "all blocks hold their bytes")
    print(f"  slept     5 times; {len(layers)} blocks at the same addresses, all bytes equal")
    pool.close()
    require(free_bytes() == base, "all memory is back")
    print(f"  gone      {base // MIB} MiB free, as in the beginning")
    check(acl.rt.reset_device(0))
    check(acl.finalize())


if __name__ == "__main__":
    sys.exit(main())
