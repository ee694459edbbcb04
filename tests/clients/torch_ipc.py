"""torch_npu: tensors shared between processes (plain, and with segments that expand; see run.py)."""

import os
import signal
import time

import torch
import torch.multiprocessing as multiprocessing
import torch_npu
from checks import check, finish
from torch_data import MIB, NPU, random_bytes, random_floats, same

LIMIT = 120


def other_process(tasks, answers):
    """Does what the parent asks of the tensors that it sends."""
    torch.npu.set_device(0)
    while True:
        task, tensors, wanted = tasks.get()
        try:
            if task == "end":
                answers.put("ended")
                return
            if task == "compare":
                for tensor, want in zip(tensors, wanted):
                    same(tensor, want)
                answers.put("equal")
            elif task == "write":
                for tensor, new in zip(tensors, wanted):
                    tensor.copy_(new)
                torch.npu.synchronize()
                answers.put("written")
            elif task == "hold":
                answers.put("holding")
                time.sleep(LIMIT)
            elif task == "give":
                mine = [new.to(NPU) for new in wanted]
                answers.put(mine)
                tasks.get()
        except BaseException as cause:
            answers.put(f"{type(cause).__name__}: {cause}")
        del tensors


class Peer:
    """The other process."""

    def __init__(self):
        context = multiprocessing.get_context("spawn")
        self.tasks, self.answers = context.Queue(), context.Queue()
        self.process = context.Process(target=other_process, args=(self.tasks, self.answers))
        self.process.start()

    def ask(self, task, tensors=(), wanted=()):
        self.tasks.put((task, list(tensors), list(wanted)))
        return self.answers.get(timeout=LIMIT)

    def end(self):
        assert self.ask("end") == "ended"
        self.process.join(LIMIT)
        assert self.process.exitcode == 0, self.process.exitcode


def answer_is(got, want):
    assert got == want, got


if __name__ == "__main__":
    assert torch_npu.__version__

    @check("another process reads a tensor")
    def _():
        peer = Peer()
        data = random_bytes(4 * MIB + 3)
        answer_is(peer.ask("compare", [data.to(NPU)], [data]), "equal")
        peer.end()

    @check("many tensors, slices and views of one block")
    def _():
        peer = Peer()
        datas = [random_floats(257, 1031) for _ in range(8)]
        there = [data.to(NPU) for data in datas]
        answer_is(peer.ask("compare", there, datas), "equal")
        parts = [there[0][100:200], there[0][7], there[1].view(-1)[5:100000]]
        answer_is(peer.ask("compare", parts, [datas[0][100:200], datas[0][7], datas[1].view(-1)[5:100000]]), "equal")
        small = [random_bytes(1000 + n) for n in range(20)]
        answer_is(peer.ask("compare", [data.to(NPU) for data in small], small), "equal")
        peer.end()

    @check("another process writes a tensor")
    def _():
        peer = Peer()
        there = random_bytes(4 * MIB).to(NPU)
        for _ in range(3):
            new = random_bytes(4 * MIB)
            answer_is(peer.ask("write", [there], [new]), "written")
            same(there, new)
        peer.end()

    @check("another process gives a tensor")
    def _():
        peer = Peer()
        data = random_bytes(4 * MIB + 1)
        (there,) = peer.ask("give", (), [data])
        same(there, data)
        del there
        peer.tasks.put("taken")
        peer.end()

    @check("memory comes back after sharing")
    def _():
        torch.npu.empty_cache()
        before = torch.npu.mem_get_info()[0]
        peer = Peer()
        data = random_bytes(40 * MIB)
        there = data.to(NPU)
        answer_is(peer.ask("compare", [there], [data]), "equal")
        peer.end()
        del there
        torch.npu.synchronize()
        torch.npu.empty_cache()
        assert torch.npu.mem_get_info()[0] >= before, (before, torch.npu.mem_get_info()[0])

    @check("kill -9 of the other process")
    def _():
        for _ in range(5):
            peer = Peer()
            data = random_bytes(8 * MIB + 1)
            there = data.to(NPU)
            answer_is(peer.ask("hold", [there], [data]), "holding")
            os.kill(peer.process.pid, signal.SIGKILL)
            peer.process.join(LIMIT)
            assert peer.process.exitcode == -signal.SIGKILL
            same(there, data)
            there.copy_(random_bytes(8 * MIB + 1))
            del there
        torch.npu.empty_cache()
        data = random_bytes(64 * MIB)
        same(data.to(NPU), data)

    @check("a round between two processes")
    def _():
        peer = Peer()
        data = random_bytes(MIB)
        there = data.to(NPU)
        answer_is(peer.ask("compare", [there], [data]), "equal")
        began = time.perf_counter()
        for _ in range(20):
            answer_is(peer.ask("compare", [there], ()), "equal")
        print(f"       a round: {1000 * (time.perf_counter() - began) / 20:.2f} ms")
        peer.end()

    finish()
