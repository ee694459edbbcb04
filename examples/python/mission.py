"""The memory of an NPU, from Python: the same walk as the C program, with the
`acl` module that programs for Ascend import. Checks every code and every byte.

It holds on every kind of product, and is run as
  cannery run -- python3 mission.py
  cannery run --profile 950 -- python3 mission.py
  cannery run --profile A3 -- python3 mission.py
  cannery run --profile 910 -- python3 mission.py
  cannery run --profile 310P -- python3 mission.py
  cannery run --profile 310B --mode rc --hbm 4G -- python3 mission.py
  cannery run --devices 2 --hbm 64M --huge 32M --pin off -- python3 mission.py
"""

import ctypes
import json
import os
import sys
import textwrap

import acl

MIB = 1 << 20
GIB = 1 << 30

# The module has no constants; every program brings the ones it needs.
ACL_SUCCESS = 0
ACL_ERROR_RT_PARAM_INVALID = 107000
ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000
ACL_ERROR_RT_MEMORY_ALLOCATION = 207001
ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL = 1, 4, 5
ACL_DEVICE = 0


def check(code, expected=ACL_SUCCESS):
    """Ends the program unless a call returned what was expected."""
    # Reading takes the pending text away, also that of an expected refusal.
    text = acl.get_recent_err_msg() if code != ACL_SUCCESS else None
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


def tell(what, text):
    """One aligned line of the story."""
    print(f"  {what:<22}{text}")


def free_bytes(attribute):
    """Free memory of a page pool, in bytes."""
    free, _total, code = acl.rt.get_mem_info(attribute)
    check(code)
    return free


def round_trip():
    """Random bytes to cached device memory and back."""
    sent = os.urandom(MIB)
    device = good(acl.rt.malloc_cached(MIB, ACL_MEM_MALLOC_HUGE_FIRST))
    require(device % 64 == 0, "64-byte alignment")
    tell("cached device memory", f"1 MiB at {device:#x}")
    check(acl.rt.memcpy(device, MIB, acl.util.bytes_to_ptr(sent), MIB, ACL_MEMCPY_HOST_TO_DEVICE))
    tell("copy in", f"{MIB} random bytes")
    check(acl.rt.mem_flush(device, MIB))
    check(acl.rt.mem_invalidate(device, MIB))
    tell("flush, invalidate", "cache and memory hold the same")

    host = good(acl.rt.malloc_host(MIB))
    check(acl.rt.memcpy(host, MIB, device, MIB, ACL_MEMCPY_DEVICE_TO_HOST))
    require(acl.util.ptr_to_bytes(host, MIB) == sent, "the bytes come back as they went")
    tell("copy back", f"{MIB} bytes to pinned host memory, all equal")
    check(acl.rt.free_host(host))
    check(acl.rt.free(device))
    check(acl.rt.free(device), ACL_ERROR_RT_PARAM_INVALID)
    tell("free", "and a second time: refused")


def media_memory():
    """Media memory is freed by its own function only."""
    block, code = acl.media.dvpp_malloc(MIB)
    if code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
        tell("media memory", "not on this product")
        return
    check(code)
    require(block % 128 == 0, "128-byte alignment")
    check(acl.rt.free(block), ACL_ERROR_RT_PARAM_INVALID)
    check(acl.media.dvpp_free(block))
    tell("media memory", "1 MiB, freed only by its own function")


def show_policy(name, policy, size, expect_huge):
    """Allocates once and tells from which page pool the memory was taken."""
    huge, normal = free_bytes(ACL_HBM_MEM_HUGE), free_bytes(ACL_HBM_MEM_NORMAL)
    block = good(acl.rt.malloc_cached(size, policy))
    huge_taken = huge - free_bytes(ACL_HBM_MEM_HUGE)
    normal_taken = normal - free_bytes(ACL_HBM_MEM_NORMAL)
    print(f"  {name:<12}{size:>14}{huge_taken:>16}{normal_taken:>16}")
    taken, other = (huge_taken, normal_taken) if expect_huge else (normal_taken, huge_taken)
    require(taken >= size and other == 0, "the policy chose the page pool")
    check(acl.rt.free(block))


def page_policies():
    """Which pages a request gets."""
    print("\nPage policies: what a request takes from each pool, in bytes")
    print(f"  {'policy':<12}{'asked':>14}{'2 MiB pages':>16}{'4 KiB pages':>16}")
    show_policy("HUGE_FIRST", ACL_MEM_MALLOC_HUGE_FIRST, MIB - 64, False)
    show_policy("HUGE_FIRST", ACL_MEM_MALLOC_HUGE_FIRST, MIB + 64, True)
    show_policy("unknown (99)", 99, 2 * MIB - 1, False)
    show_policy("unknown (99)", 99, 2 * MIB, True)


def out_of_memory():
    """A request that no device can serve."""
    free, total, code = acl.rt.get_mem_info(ACL_HBM_MEM)
    check(code)
    block, code = acl.rt.malloc_cached(total + GIB, ACL_MEM_MALLOC_HUGE_FIRST)
    print(f"\nOut of memory: {total + GIB} bytes asked of a device that has {total}")
    tell("code", f"{code}, and the text:")
    print(textwrap.fill(acl.get_recent_err_msg(), 96, initial_indent=" " * 4, subsequent_indent=" " * 4))
    require(code == ACL_ERROR_RT_MEMORY_ALLOCATION and block == 0, "refused")
    require(free_bytes(ACL_HBM_MEM) == free, "a failed call changes nothing")


def what_happened():
    """The library's own count."""
    library = ctypes.CDLL("libascendcl.so")
    needed = ctypes.c_size_t()
    check(library.cannery_stats(None, ctypes.c_size_t(0), ctypes.byref(needed)))
    buffer = ctypes.create_string_buffer(needed.value)
    check(library.cannery_stats(buffer, needed, ctypes.byref(needed)))
    stats = json.loads(buffer.value)
    print("\nWhat happened")
    refused = stats["failed_allocations"]
    tell("allocations", f"{stats['allocations']}, freed {stats['frees']}, refused {refused}")
    tell("peak", f"{stats['peak_bytes'] // 1024} KiB")
    tell("leaks", "none" if stats["live_blocks"] == 0 else f"{stats['live_blocks']} blocks")
    require(stats["live_blocks"] == 0 and stats["allocations"] == stats["frees"], "no block is left")


def main():
    """The whole walk."""
    check(acl.init())
    devices = good(acl.rt.get_device_count())
    check(acl.rt.set_device(0))
    mode = good(acl.rt.get_run_mode())
    print(f"The mission in Python, on {acl.get_soc_name()}")
    memory = "host and device share memory" if mode == ACL_DEVICE else "host and device memory separate"
    tell("init", f"device 0 of {devices}, {memory}")
    round_trip()
    media_memory()
    page_policies()
    out_of_memory()
    check(acl.rt.reset_device(0))
    check(acl.finalize())
    what_happened()


if __name__ == "__main__":
    sys.exit(main())
