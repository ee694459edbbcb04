"""Speed of what torch_npu does with the library; both sides of a comparison in one run. Prints rows.

cannery run -- python tests/clients/torch_speed.py
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch_npu

MIB = 1 << 20
NPU = "npu:0"

# Counts every call of a function of the library, whoever makes it.
COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
unsigned long cannery_calls;
void *cannery_real[COUNT];
#define NAME(number, name) #name,
static const char *const names[COUNT] = {FUNCTIONS(NAME)};
#define COUNTED(number, name) \\
    __asm__(".text\\n.globl " #name "\\n.type " #name ", %function\\n" #name ":\\n" \\
            "lock incq cannery_calls(%rip)\\njmp *cannery_real + 8 * " #number "(%rip)\\n");
FUNCTIONS(COUNTED)
__attribute__((constructor)) static void find(void)
{
    void *library = dlopen("libascendcl.so", RTLD_LAZY);
    for (int i = 0; i < COUNT; i++)
        cannery_real[i] = dlsym(library, names[i]);
}
unsigned long calls_so_far(void) { return cannery_calls; }
"""

COUNT_PROGRAM = """
import ctypes, torch, torch_npu
counter = ctypes.CDLL({library!r})
counter.calls_so_far.restype = ctypes.c_ulong
for _ in range(10): torch.empty(1 << 20, dtype=torch.uint8, device="npu")
begin = counter.calls_so_far()
for _ in range(10000): torch.empty(1 << 20, dtype=torch.uint8, device="npu")
end = counter.calls_so_far()
assert begin > 0, "nothing was counted"
print(end - begin)
"""

FIRST_PROGRAM = """
import time, torch, torch_npu
begin = time.perf_counter()
torch.empty(1 << 20, dtype=torch.uint8, device="npu")
print(1000 * (time.perf_counter() - begin))
"""


def row(what, value, aim):
    print(f"| {what} | {value} | {aim} |", flush=True)


def median(function, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def child(program, **env):
    """What a fresh Python prints last."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def calls(**env):
    """Calls of the library in 10000 allocations."""
    library = os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64", "libascendcl.so")
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = [line.split()[2] for line in listing.stdout.splitlines() if line.split()[2].startswith("acl")]
    functions = " ".join(f"F({number}, {name})" for number, name in enumerate(names))
    with tempfile.TemporaryDirectory() as place:
        source, counter = os.path.join(place, "counter.c"), os.path.join(place, "counter.so")
        with open(source, "w") as file:
            file.write(f"#define COUNT {len(names)}\n#define FUNCTIONS(F) {functions}\n{COUNTER}")
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", counter, source, "-ldl"], check=True)
        return child(COUNT_PROGRAM.format(library=counter), LD_PRELOAD=counter, **env)


def main():
    assert torch_npu.__version__
    print("| what | measured | aim |\n|---|---:|---|")
    first = [float(child(FIRST_PROGRAM)) for _ in range(5)]
    row("first `torch.empty` on npu, all of the start", f"{statistics.median(first):.1f} ms", "<= 30 ms")
    row("`torch.empty` and its end, cache warm: calls of the library in 10000", calls(), "0")
    row("the same with caching off", calls(PYTORCH_NO_NPU_MEMORY_CACHING="1"), "")
    torch.set_num_threads(1)
    size = 64 * MIB
    pageable = torch.randint(0, 256, (size,), dtype=torch.uint8)
    pinned = pageable.pin_memory()
    there = torch.empty(size, dtype=torch.uint8, device=NPU)
    other = torch.empty_like(pageable)

    def up(source):
        there.copy_(source)
        torch.npu.synchronize()

    for name, source in (("pageable", pageable), ("pinned", pinned)):
        for _ in range(3):
            up(source)
            other.copy_(source)
        # In turns, so that both sides see the same machine.
        mine, plain = [], []
        for _ in range(15):
            plain.append(median(lambda source=source: other.copy_(source), 1))
            mine.append(median(lambda source=source: up(source), 1))
        ratio = statistics.median(plain) / statistics.median(mine)
        row(f"`.to('npu')` of 64 MiB, {name}, warm, against a copy of the host", f"{100 * ratio:.0f} %", ">= 90 %")


main()
