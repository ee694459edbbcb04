#!/usr/bin/env python3
"""Times calls from Python: `acl.rt.malloc` + `acl.rt.free`, and the same shapes
around nothing. Prints one line of JSON: a list of nanoseconds a pair for each
side, one entry a round; the sides take turns. Processor time, which a busy machine
does not stretch.

usage: python_calls.py ROUNDS PAIRS_A_ROUND. Needs `acl` and `cannery_noop` on
the path. Run by the benchmark program.
"""

import json
import sys
import time

import acl
import cannery_noop

HUGE_FIRST = 0
SIZE = 4096


def pairs(malloc, free, count):
    """Nanoseconds for one malloc and one free, mean of `count`."""
    begun = time.thread_time_ns()
    for _ in range(count):
        ptr, ret = malloc(SIZE, HUGE_FIRST)
        ret = free(ptr)
    took = time.thread_time_ns() - begun
    if ret != 0:
        raise SystemExit(f"free returned {ret}")
    return took / count


def empty(count):
    """What the loop itself costs."""
    begun = time.thread_time_ns()
    for _ in range(count):
        pass
    return (time.thread_time_ns() - begun) / count


def main():
    """Sets a device, warms up, measures."""
    rounds, count = map(int, sys.argv[1:3])
    for ret in (acl.init(), acl.rt.set_device(0)):
        if ret != 0:
            raise SystemExit(f"no device: {ret}")
    sides = {
        "acl": lambda: pairs(acl.rt.malloc, acl.rt.free, count),
        "noop": lambda: pairs(cannery_noop.malloc, cannery_noop.free, count),
        "loop": lambda: empty(count),
    }
    results = {name: [] for name in sides}
    for side in sides.values():
        side()
    for _ in range(rounds):
        for name, side in sides.items():
            results[name].append(side())
    print(json.dumps(results))


if __name__ == "__main__":
    main()
