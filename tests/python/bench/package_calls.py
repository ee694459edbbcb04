#!/usr/bin/env python3
"""What the package `cannery` adds to the calls of `acl` that it wraps.

Both sides of a row do the same work in the same process and take turns; the best round of each
counts, processor time, so that a busy machine does not stretch it. A row may add 400 ns for each call
of `acl` that it wraps. `--check` makes the limit an error.

usage: package_calls.py [--check] [--json]. Needs `acl` and `cannery` on the path.
"""

import argparse
import gc
import json
import sys
import time

import acl
import cannery

LIMIT_NS = 400
ROUNDS, COUNT = 9, 4000
SIZE = 4096
TO_DEVICE, TO_HOST, BETWEEN = 1, 2, 3


def best(function):
    """Nanoseconds of one of the COUNT passes of a function, in one round."""
    begun = time.thread_time_ns()
    function()
    return (time.thread_time_ns() - begun) / COUNT


def rows(stream):
    """Name, calls of `acl`, the raw side, the friendly side."""
    rt, bytes_to_ptr = acl.rt, acl.util.bytes_to_ptr
    device, other = cannery.DeviceBuffer(SIZE), cannery.DeviceBuffer(SIZE)
    cached = cannery.CachedBuffer(SIZE)
    pinned = cannery.PinnedBuffer(SIZE)
    data, room = bytes(SIZE), bytearray(SIZE)
    target, source, host, flushed = device.address, other.address, pinned.address, cached.address
    room_pointer = cannery.HostPointer(room)
    into = room_pointer.address
    room_pointer.close()
    handle = stream.handle
    event, _ret = rt.create_event_ex_with_flag(3)

    def raw_pair():
        for _ in range(COUNT):
            address, ret = rt.malloc(SIZE, 0)
            if ret or rt.free(address):
                raise SystemExit("malloc")

    def pair():
        for _ in range(COUNT):
            cannery.DeviceBuffer(SIZE).close()

    def raw_host_pair():
        for _ in range(COUNT):
            address, ret = rt.malloc_host(SIZE)
            if ret or rt.free_host(address):
                raise SystemExit("malloc_host")

    def host_pair():
        for _ in range(COUNT):
            cannery.PinnedBuffer(SIZE).close()

    def raw_bytes():
        for _ in range(COUNT):
            if rt.memcpy(target, SIZE, bytes_to_ptr(data), SIZE, TO_DEVICE):
                raise SystemExit("memcpy")

    def from_bytes():
        for _ in range(COUNT):
            device.copy_from(data)

    def raw_pinned():
        for _ in range(COUNT):
            if rt.memcpy(target, SIZE, host, SIZE, TO_DEVICE):
                raise SystemExit("memcpy")

    def from_pinned():
        for _ in range(COUNT):
            device.copy_from(pinned)

    def raw_back():
        for _ in range(COUNT):
            if rt.memcpy(into, SIZE, target, SIZE, TO_HOST):
                raise SystemExit("memcpy")

    def to_bytearray():
        for _ in range(COUNT):
            device.copy_to(room)

    def raw_fill():
        for _ in range(COUNT):
            if rt.memset(target, SIZE, 7, SIZE):
                raise SystemExit("memset")

    def fill():
        for _ in range(COUNT):
            device.fill(7)

    def raw_flush():
        for _ in range(COUNT):
            if rt.mem_flush(flushed, SIZE):
                raise SystemExit("mem_flush")

    def flush():
        for _ in range(COUNT):
            cached.flush()

    def raw_info():
        for _ in range(COUNT):
            _free, _total, ret = rt.get_mem_info(1)
            if ret:
                raise SystemExit("get_mem_info")

    def info():
        for _ in range(COUNT):
            cannery.memory_info()

    def raw_async():
        for number in range(COUNT):
            if rt.memcpy_async(target, SIZE, source, SIZE, BETWEEN, handle) or rt.record_event(event, handle):
                raise SystemExit("memcpy_async")
            if not number % 64:
                rt.synchronize_stream(handle)
        rt.synchronize_stream(handle)

    def queued():
        for number in range(COUNT):
            stream.copy(device, other)
            if not number % 64:
                stream.synchronize()
        stream.synchronize()

    return [
        ("malloc + free", 2, raw_pair, pair),
        ("malloc_host + free_host", 2, raw_host_pair, host_pair),
        ("memcpy from bytes", 2, raw_bytes, from_bytes),
        ("memcpy from pinned", 1, raw_pinned, from_pinned),
        ("memcpy to a bytearray", 1, raw_back, to_bytearray),
        ("memset", 1, raw_fill, fill),
        ("mem_flush", 1, raw_flush, flush),
        ("get_mem_info", 1, raw_info, info),
        ("memcpy_async + record_event", 2, raw_async, queued),
    ]


def main():
    """Measures every row and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help=f"fail when a row adds more than {LIMIT_NS} ns a call")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    options = parser.parse_args()
    results, slow = [], []
    with cannery.session(), cannery.Stream() as stream:
        for name, calls, raw, friendly in rows(stream):
            raw(), friendly()
            gc.collect()
            gc.disable()
            samples = [(best(raw), best(friendly)) for _ in range(ROUNDS)]
            gc.enable()
            low, high = (min(column) for column in zip(*samples))
            added = (high - low) / calls
            results.append({"row": name, "acl_ns": low, "cannery_ns": high, "added_a_call_ns": added})
            if added > LIMIT_NS:
                slow.append(name)
        if stream.in_flight:
            raise SystemExit("copies are still on their way")
    if options.json:
        print(json.dumps(results))
    else:
        print(f"{'call':<30}{'acl ns':>9}{'cannery ns':>12}{'added a call':>14}")
        for row in results:
            print(f"{row['row']:<30}{row['acl_ns']:>9.0f}{row['cannery_ns']:>12.0f}{row['added_a_call_ns']:>14.0f}")
    if slow and options.check:
        print(f"more than {LIMIT_NS} ns a call: {', '.join(slow)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
