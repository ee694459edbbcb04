"""torch_npu with worker processes: forked and spawned loaders, and ends of every kind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import torch
import torch_npu
from checks import check, finish
from torch_data import MIB, NPU, random_bytes, same

LIMIT = 120
ITEM = 64 * 1024


class Numbers(torch.utils.data.Dataset):
    """Items that tell their number in every byte."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((ITEM,), index, dtype=torch.uint8)


def load(workers, context):
    """Every batch goes to the device and comes back."""
    loader = torch.utils.data.DataLoader(
        Numbers(), batch_size=16, num_workers=workers, pin_memory=True, multiprocessing_context=context
    )
    seen = []
    for batch in loader:
        there = batch.to(NPU, non_blocking=True)
        torch.npu.synchronize()
        same(there, batch)
        seen += there.cpu()[:, -1].tolist()
    assert sorted(seen) == list(range(64)), seen


def spawned(number, answers):
    """A process that uses the device by itself."""
    torch.npu.set_device(0)
    data = torch.full((MIB,), number % 251, dtype=torch.uint8)
    answers.put(bool(torch.equal(data.to(NPU).clone().cpu(), data)))


def forked(number):
    """A worker that does not touch the device, as loaders do."""
    time.sleep(0.001 * (number % 5))
    os._exit(number % 100)


PROGRAM = """
import os, signal, sys, threading
import torch, torch_npu
there = torch.randint(0, 256, (1 << 20,), dtype=torch.uint8).to("npu")
pinned = torch.empty(1 << 20, dtype=torch.uint8).pin_memory()
stream = torch.npu.Stream()
event = torch.npu.Event()
graph = torch.npu.NPUGraph()
with torch.npu.stream(stream):
    for _ in range(200):
        pinned.copy_(there, non_blocking=True)
event.record(stream)
print("begun", flush=True)
how = sys.argv[1]
if how == "raise":
    raise SystemExit(3)
if how == "os._exit":
    os._exit(3)
if how == "abort":
    os.abort()
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "thread":
    threading.Thread(target=lambda: [there.cpu() for _ in range(50)]).start()
"""

ENDS = {"return": 0, "raise": 3, "os._exit": 3, "thread": 0, "abort": -signal.SIGABRT, "kill": -signal.SIGKILL}

if __name__ == "__main__":
    assert torch_npu.__version__

    @check("a loader with forked workers, after the device was used")
    def _():
        data = random_bytes()
        same(data.to(NPU), data)
        for _ in range(5):
            load(4, "fork")

    @check("a loader with spawned workers")
    def _():
        load(2, "spawn")

    @check("a hundred forks beside work on the device")
    def _():
        context = multiprocessing.get_context("fork")
        data = random_bytes(8 * MIB, pinned=True)
        for number in range(100):
            there = data.to(NPU, non_blocking=True)
            worker = context.Process(target=forked, args=(number,))
            worker.start()
            torch.npu.synchronize()
            worker.join(LIMIT)
            assert worker.exitcode == number % 100, worker.exitcode
        same(there, data)

    @check("spawned processes on one card")
    def _():
        context = multiprocessing.get_context("spawn")
        for first in range(0, 12, 4):
            answers = context.Queue()
            workers = [context.Process(target=spawned, args=(first + n, answers)) for n in range(4)]
            for worker in workers:
                worker.start()
            assert all(answers.get(timeout=LIMIT) for _ in workers)
            for worker in workers:
                worker.join(LIMIT)
                assert worker.exitcode == 0, worker.exitcode

    @check("a hundred workers of a fork server, each with work on the card")
    def _():
        # The server has imported torch_npu and has no device yet, so its forks may have one.
        multiprocessing.set_forkserver_preload(["torch", "torch_npu"])
        context = multiprocessing.get_context("forkserver")
        data = random_bytes(8 * MIB, pinned=True)
        for first in range(0, 100, 4):
            answers = context.Queue()
            workers = [context.Process(target=spawned, args=(first + n, answers)) for n in range(4)]
            for worker in workers:
                worker.start()
            there = data.to(NPU, non_blocking=True)
            assert all(answers.get(timeout=LIMIT) for _ in workers)
            for worker in workers:
                worker.join(LIMIT)
                assert worker.exitcode == 0, worker.exitcode
            same(there, data)

    @check("a fork that uses the device is refused with a text")
    def _():
        program = (
            "import os, torch, torch_npu\n"
            "torch.ones(4).to('npu')\n"
            "if os.fork() == 0:\n"
            "    try: torch.ones(4).to('npu')\n"
            "    except RuntimeError as e: print(str(e), flush=True); os._exit(0)\n"
            "    os._exit(1)\n"
            "raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done.stderr
        assert "spawn" in done.stdout, done.stdout

    for how, code in ENDS.items():

        @check(f"end without cleaning up: {how}")
        def _(how=how, code=code):
            before = torch.npu.mem_get_info()[0]
            done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, timeout=LIMIT)
            assert done.stdout.startswith("begun"), done.stderr
            assert done.returncode == code, (done.returncode, done.stderr)
            after = torch.npu.mem_get_info()[0]
            assert after == before, f"free memory was {before}, is {after}"

    finish()
