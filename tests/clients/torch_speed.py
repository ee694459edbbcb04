"""Speed of what torch_npu does with the library; both sides of a comparison in one run. Prints rows.

tests/clients/run.py --speed runs it, with --write into docs/performance.md.
"""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.multiprocessing as multiprocessing
import torch_npu

MIB = 1 << 20
NPU = "npu:0"
PAIRS = 10000
HERE = Path(__file__).resolve().parent

COUNT_PROGRAM = """
import ctypes, torch, torch_npu
meter = ctypes.CDLL({library!r})
meter.calls_of.restype = ctypes.c_ulong
meter.name_of.restype = ctypes.c_char_p
def counts():
    return [meter.calls_of(number) for number in range(meter.functions())]
for _ in range(10): torch.empty(1 << 20, dtype=torch.uint8, device="npu")
begin = counts()
for _ in range({pairs}): torch.empty(1 << 20, dtype=torch.uint8, device="npu")
end = counts()
assert sum(begin) > 0, "nothing was counted"
for number, (before, after) in enumerate(zip(begin, end)):
    if after > before: print("calls", meter.name_of(number).decode(), after - before)
"""

TIME_PROGRAM = """
import ctypes, statistics, time, torch, torch_npu
meter = ctypes.CDLL({library!r})
meter.ticks.restype = meter.own_ticks.restype = ctypes.c_ulong
meter.calls.restype = ctypes.c_ulong
for _ in range(1000): torch.empty(1 << 20, dtype=torch.uint8, device="npu")
begin, from_ticks = time.perf_counter(), meter.now
from_ticks.restype = ctypes.c_ulong
first = from_ticks()
rounds = []
for _ in range(200):
    ticks, calls = meter.ticks(), meter.calls()
    for _ in range(100): torch.empty(1 << 20, dtype=torch.uint8, device="npu")
    own = (meter.calls() - calls) * meter.own_ticks() / 1000
    rounds.append((meter.ticks() - ticks - own) / 100)
per_second = (from_ticks() - first) / (time.perf_counter() - begin)
assert meter.calls() > 0, "nothing was measured"
print("took", 1e9 * statistics.median(rounds) / per_second)
"""

FIRST_PROGRAM = """
import time, torch, torch_npu
begin = time.perf_counter()
torch.empty(1 << 20, dtype=torch.uint8, device="npu")
print("took", 1000 * (time.perf_counter() - begin))
"""


def row(what, value, aim):
    print(f"| {what} | {value} | {aim} |", flush=True)


def child(program, **env):
    """What a fresh Python prints, as lists of words."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines() if line.startswith(("calls ", "took "))]


def functions():
    """Every function of the library."""
    library = os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64", "libascendcl.so")
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return [name for name in (line.split()[2] for line in listing.stdout.splitlines()) if name.startswith("acl")]


def metered(program, place, names, timed, **env):
    """What a program prints that runs with a library in front, which counts or times these functions."""
    meter = os.path.join(place, "timer.so" if timed else "counter.so")
    listing = " ".join(f"F({number}, {name})" for number, name in enumerate(names))
    command = ["gcc", "-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic", f"-DCOUNT={len(names)}", f"-DTIMED={int(timed)}"]
    subprocess.run([*command, f"-DFUNCTIONS(F)={listing}", "-o", meter, str(HERE / "meter.c"), "-ldl"], check=True)
    return child(program.format(library=meter, pairs=PAIRS), LD_PRELOAD=meter, **env)


def allocations():
    """How often the library is called, and how long that takes."""
    off = {"PYTORCH_NO_NPU_MEMORY_CACHING": "1"}
    with tempfile.TemporaryDirectory() as place:
        warm = metered(COUNT_PROGRAM, place, functions(), False)
        calls = sum(int(count) for _, _, count in warm)
        row(f"`torch.empty` and its end, 1 MiB, cache warm: calls of the library in {PAIRS}", calls, "0")
        counted = metered(COUNT_PROGRAM, place, functions(), False, **off)
        names = [name for _, name, _ in counted]
        calls = sum(int(count) for _, _, count in counted)
        row(f"the same with caching off ({', '.join(f'`{n}`' for n in names)})", calls, "")
        times = [float(metered(TIME_PROGRAM, place, names, True, **off)[-1][1]) for _ in range(3)]
        took = statistics.median(times)
        row("time in the library for each pair of these (3 fresh processes, median)", f"{took:.0f} ns", "<= 300 ns")


def copies():
    """Copies to the device, in turns with memcpy, so that both see the same machine."""
    plain_copy = ctypes.CDLL(None).memcpy
    plain_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    size = 64 * MIB
    pageable = torch.randint(0, 256, (size,), dtype=torch.uint8)
    pinned = pageable.pin_memory()
    other = torch.empty_like(pageable)
    for name, source in (("pageable", pageable), ("pinned", pinned)):
        there = source.to(NPU)
        shares = []
        for _ in range(43):
            begin = time.perf_counter()
            plain_copy(other.data_ptr(), source.data_ptr(), size)
            between = time.perf_counter()
            del there  # the cache of torch gives the same block again
            then = time.perf_counter()
            there = source.to(NPU)
            torch.npu.synchronize()
            shares.append((between - begin) / (time.perf_counter() - then))
        assert torch.equal(there.cpu(), source)
        ratio = statistics.median(shares[3:])
        row(f"`.to('npu')` of 64 MiB, {name}, warm, against memcpy", f"{100 * ratio:.0f} %", ">= 90 %")


def peer(tasks, answers):
    """Takes tensors that are shared, and says so."""
    torch.npu.set_device(0)
    while (tensor := tasks.get()) is not None:
        answers.put(tensor.numel())
        del tensor


def sharing():
    """A tensor to another process, and its answer."""
    context = multiprocessing.get_context("spawn")
    tasks, answers = context.Queue(), context.Queue()
    process = context.Process(target=peer, args=(tasks, answers))
    process.start()
    there = torch.randint(0, 256, (MIB,), dtype=torch.uint8).to(NPU)
    times = []
    for _ in range(220):
        begin = time.perf_counter()
        tasks.put(there)
        assert answers.get(timeout=60) == MIB
        times.append(time.perf_counter() - begin)
    tasks.put(None)
    process.join(60)
    took = 1000 * statistics.median(times[20:])
    row("sharing a tensor of 1 MiB with another process, a round, warm", f"{took:.2f} ms", "<= 1 ms")


def main():
    assert torch_npu.__version__
    print("| what | measured | aim |\n|---|---:|---|")
    first = [float(child(FIRST_PROGRAM)[-1][1]) for _ in range(5)]
    took = statistics.median(first)
    row("first `torch.empty` on npu, all of the start (5 fresh processes, median)", f"{took:.1f} ms", "<= 30 ms")
    allocations()
    copies()
    sharing()


if __name__ == "__main__":
    main()
