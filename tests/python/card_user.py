"""A process that uses a card as it is told, line by line; and the side that tells it."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from isolated import PREFIX, child_environment

TIME_LIMIT = 60
HBM = 1  # aclrtMemAttr
NORMAL, HUGE, GIANT = 5, 4, 10
HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY = 0, 1, 2


class User:
    """Another process on the card. Its methods are calls of `acl` there."""

    alive = []

    def __init__(self, run_dir, device=0, **settings):
        env = child_environment({"CANNERY_RUNTIME_DIR": str(run_dir), **settings})
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(device)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.alive.append(self)
        self.pid = self.process.pid
        self.begun = self.answer()

    def tell(self, call, *arguments):
        """Sends a call without waiting for its end."""
        self.process.stdin.write(json.dumps([call, *arguments]) + "\n")
        self.process.stdin.flush()

    def answer(self):
        """What the last call came to."""
        ready, _, _ = select.select([self.process.stdout], [], [], TIME_LIMIT)
        assert ready, f"process {self.pid} does not answer"
        line = self.process.stdout.readline()
        assert line, f"process {self.pid} ended: {self.process.stderr.read()}"
        return json.loads(line)

    def info(self, attribute=HBM):
        """Free and total bytes."""
        self.tell("info", attribute)
        return tuple(self.answer())

    def __getattr__(self, call):
        def ask(*arguments):
            self.tell(call, *arguments)
            return self.answer()

        return ask

    def good_malloc(self, size, policy=HUGE_FIRST):
        """Allocates; the address."""
        address, code = self.malloc(size, policy)
        assert code == 0, self.text()
        return address

    def end(self):
        """Lets it end by itself; what it said on its error stream."""
        _, said = self.process.communicate(timeout=TIME_LIMIT)
        self.alive.remove(self)
        assert self.process.returncode == 0, said
        return said

    def kill(self):
        """Ends it as `kill -9` does."""
        self.process.kill()
        self.process.communicate(timeout=TIME_LIMIT)
        self.alive.remove(self)

    def stop(self):
        """Stops it as Ctrl-Z does, and waits until it stands."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def go_on(self):
        """Undoes `stop`."""
        os.kill(self.pid, signal.SIGCONT)


def smi(run_dir, *arguments, **settings):
    """What `cannery smi --json` says."""
    env = child_environment({"CANNERY_RUNTIME_DIR": str(run_dir), **settings})
    command = [str(PREFIX / "bin" / "cannery"), "smi", "--json", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def end_all():
    """Ends what a failed test left running."""
    for user in list(User.alive):
        user.kill()


class Calls:
    """The calls, in the process that is told."""

    def __init__(self, acl):
        self.acl = acl
        self.blocks = []

    def malloc_host(self, size):
        return self.acl.rt.malloc_host(size)

    def malloc_physical(self, size):
        """A physical handle in 2 MiB pages of device 0; the handle."""
        prop = {"memAttr": HUGE, "location": {"id": 0, "type": 1}}
        return self.acl.rt.malloc_physical(size, prop, 0)

    def free_physical(self, handle):
        return self.acl.rt.free_physical(handle)

    def malloc(self, size, policy):
        address, code = self.acl.rt.malloc(size, policy)
        if code == 0:
            self.blocks.append((address, size))
        return address, code

    def free(self, address):
        self.blocks = [block for block in self.blocks if block[0] != address]
        return self.acl.rt.free(address)

    def info(self, attribute=HBM):
        free, total, code = self.acl.rt.get_mem_info(attribute)
        assert code == 0, self.text()
        return free, total

    def text(self):
        return self.acl.get_recent_err_msg()

    def reset(self):
        self.blocks = []
        return self.acl.rt.reset_device(0)

    def set(self, device):
        return self.acl.rt.set_device(device)

    def play(self, seed, rounds, largest, policy):
        """Allocates and releases at random; how many were refused."""
        import random

        dice = random.Random(seed)
        refused = 0
        for _ in range(rounds):
            if self.blocks and dice.random() < 0.5:
                block = self.blocks.pop(dice.randrange(len(self.blocks)))
                assert self.acl.rt.free(block[0]) == 0
                continue
            _, code = self.malloc(dice.randint(1, largest), policy)
            assert code in (0, 207001), self.text()
            refused += code != 0
        return refused

    def fill(self, size, policy):
        """Allocates blocks of one size until one is refused; how many there were."""
        count = 0
        while self.malloc(size, policy)[1] == 0:
            count += 1
        return count

    def drop_all(self):
        """Releases everything."""
        for address, _ in self.blocks:
            assert self.acl.rt.free(address) == 0
        self.blocks = []

    def fork(self):
        """Has a forked child start afresh and allocate; free memory as it sees it before and after."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            assert self.acl.init() == 0 and self.acl.rt.set_device(0) == 0
            before = self.info()[0]
            address, code = self.malloc(64 << 20, HUGE_ONLY)
            assert code == 0
            os.write(writer, json.dumps([before, self.info()[0]]).encode())
            sys.exit(0)
        os.close(writer)
        with os.fdopen(reader) as answers:
            numbers = json.loads(answers.read())
        _, status = os.waitpid(child, 0)
        assert status == 0
        return numbers


def serve(device):
    """Does what it is told."""
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(device) == 0, acl.get_recent_err_msg()
    calls = Calls(acl)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        call, *arguments = json.loads(line)
        print(json.dumps(getattr(calls, call)(*arguments)), flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
