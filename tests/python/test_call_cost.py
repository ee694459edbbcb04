"""What a call costs: malloc and free against the same two calls into a library that does nothing.

The second number is the cost of Python and of the binding alone. Both run in
turns, in processes of their own; the best of the rounds counts.
"""

import os
import subprocess
import sys

from isolated import child_environment, scratch

NOTHING = """
#include <stddef.h>
#include <stdint.h>
int aclInit(const char *path) { (void)path; return 0; }
int aclrtSetDevice(int32_t device) { (void)device; return 0; }
int aclrtMalloc(void **p, size_t size, int32_t policy)
{
    (void)size; (void)policy;
    *p = (void *)0x12c000000000;
    return 0;
}
int aclrtFree(void *p) { (void)p; return 0; }
"""

LOOP = """
import sys, time
import acl
size, count = int(sys.argv[1]), 100_000
acl.init()
acl.rt.set_device(0)
malloc, free = acl.rt.malloc, acl.rt.free

def pairs():
    started = time.perf_counter_ns()
    for _ in range(count):
        pointer, _ret = malloc(size, 0)
        free(pointer)
    return (time.perf_counter_ns() - started) / count

print(min(pairs() for _ in range(5)))
"""


def nothing():
    """The directory of the library that does nothing."""
    place = scratch() / "nothing"
    if not place.exists():
        place.mkdir()
        source = place / "nothing.c"
        source.write_text(NOTHING, encoding="utf-8")
        library = str(place / "libascendcl.so")
        compiler = os.environ.get("CC", "cc").split()
        flags = ["-O2", "-shared", "-fPIC", "-Wl,-soname,libascendcl.so"]
        subprocess.run([*compiler, *flags, "-o", library, str(source)], check=True)
    return place


def pair(size, directory=None):
    """Nanoseconds of one malloc and one free."""
    environment = child_environment({"LD_LIBRARY_PATH": str(directory)} if directory else None)
    command = [sys.executable, "-c", LOOP, str(size)]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def measure(size, rounds=3):
    """The pair with the runtime and without, in nanoseconds."""
    samples = [(pair(size), pair(size, nothing())) for _ in range(rounds)]
    return tuple(min(column) for column in zip(*samples))


def test_calls_stay_cheap():
    with_runtime, without = measure(4096)
    assert with_runtime <= 4 * without, (with_runtime, without)
