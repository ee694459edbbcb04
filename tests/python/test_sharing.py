"""Memory that two Python processes share: by a key and by a shareable handle."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap

PREFIX = pathlib.Path(os.environ.get("CANNERY_PREFIX", "target/prefix")).resolve()
HEAD = """
import acl, hashlib, os, sys
SIZE = 2 << 20
def ok(code, what=""):
    assert code == 0, (what, code, acl.get_recent_err_msg())
def say(*what):
    print(*what, flush=True)
def write(device, data):
    ok(acl.rt.memcpy(device, SIZE, acl.util.bytes_to_ptr(data), SIZE, 1))
def digest(device):
    host, code = acl.rt.malloc_host(SIZE); ok(code)
    ok(acl.rt.memcpy(host, SIZE, device, SIZE, 2))
    text = hashlib.sha256(acl.util.ptr_to_bytes(host, SIZE)).hexdigest()
    ok(acl.rt.free_host(host))
    return text
ok(acl.init()); ok(acl.rt.set_device(0))
"""

EXPORT_KEY = """
    device, code = acl.rt.malloc(SIZE, 1); ok(code)
    data = os.urandom(SIZE); write(device, data)
    key, code = acl.rt.ipc_mem_get_export_key(device, SIZE, 65, 0); ok(code, "export")
    say(key); say(hashlib.sha256(data).hexdigest())
    ok(acl.rt.ipc_mem_set_import_pid(key, [int(input())]), "pid"); say("listed")
    input(); say(digest(device))
    ok(acl.rt.ipc_mem_close(key)); ok(acl.rt.free(device))
"""

IMPORT_KEY = """
    say(os.getpid()); key = input()
    device, code = acl.rt.ipc_mem_import_by_key(key, 0); ok(code, "import")
    say(digest(device))
    data = os.urandom(SIZE); write(device, data); say(hashlib.sha256(data).hexdigest())
    input(); say(digest(device))
    ok(acl.rt.ipc_mem_close(key)); say(acl.rt.ipc_mem_close(key))
"""

MAP = """
    def mapped(handle):
        at, code = acl.rt.reserve_mem_address(SIZE, 0, 0, 0); ok(code, "reserve")
        ok(acl.rt.map_mem(at, SIZE, 0, handle, 0), "map")
        return at
"""

EXPORT_HANDLE = (
    MAP
    + """
    prop = {"memAttr": 4, "location": {"id": 0, "type": 1}}
    handle, code = acl.rt.malloc_physical(SIZE, prop, 0); ok(code)
    device = mapped(handle)
    data = os.urandom(SIZE); write(device, data)
    number, code = acl.rt.mem_export_to_shareable_handle(handle, 0, 0); ok(code, "export")
    say(number); say(hashlib.sha256(data).hexdigest())
    ok(acl.rt.mem_set_pid_to_shareable_handle(number, [int(input())]), "pid"); say("listed")
    input(); say(digest(device))
    ok(acl.rt.unmap_mem(device)); ok(acl.rt.free_physical(handle))
"""
)

IMPORT_HANDLE = (
    MAP
    + """
    say(os.getpid()); number = int(input())
    handle, code = acl.rt.mem_import_from_shareable_handle(number, 0); ok(code, "import")
    device = mapped(handle)
    say(digest(device))
    data = os.urandom(SIZE); write(device, data); say(hashlib.sha256(data).hexdigest())
    input(); say(digest(device))
    ok(acl.rt.unmap_mem(device)); ok(acl.rt.free_physical(handle))
    say(acl.rt.free_physical(handle))
"""
)


class Process:
    """A process that runs `code` after the usual start."""

    def __init__(self, code, run_dir):
        env = dict(os.environ, CANNERY_RUNTIME_DIR=str(run_dir), PYTHONPATH=str(PREFIX / "python"))
        env["LD_LIBRARY_PATH"] = f"{PREFIX / 'lib64'}:{env.get('LD_LIBRARY_PATH', '')}"
        self.child = subprocess.Popen(
            [sys.executable, "-c", HEAD + textwrap.dedent(code)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )

    def hear(self):
        return self.child.stdout.readline().strip()

    def tell(self, text=""):
        self.child.stdin.write(f"{text}\n")
        self.child.stdin.flush()

    def end(self):
        assert self.child.wait(20) == 0

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait(20)


def meet(export, load, run_dir):
    """Both processes, with one memory that the importer has read and then written."""
    owner, other = Process(export, run_dir), Process(load, run_dir)
    name, written = owner.hear(), owner.hear()
    owner.tell(other.hear())
    assert owner.hear() == "listed"
    other.tell(name)
    assert other.hear() == written
    return owner, other, other.hear()


def both_ends(export, load, run_dir):
    owner, other, written = meet(export, load, run_dir)
    owner.tell()
    assert owner.hear() == written
    other.tell()
    assert other.hear() == written
    assert other.hear() == "107000"  # closed, or freed, a second time
    other.end()
    owner.end()


def owner_dies(export, load, run_dir):
    owner, other, written = meet(export, load, run_dir)
    owner.kill()
    other.tell()
    assert other.hear() == written
    assert other.hear() == "107000"
    other.end()


def importer_dies(export, load, run_dir):
    owner, other, written = meet(export, load, run_dir)
    other.kill()
    owner.tell()
    assert owner.hear() == written
    owner.end()


def test_a_block_crosses_processes(tmp_path):
    both_ends(EXPORT_KEY, IMPORT_KEY, tmp_path / "run")


def test_a_handle_crosses_processes(tmp_path):
    both_ends(EXPORT_HANDLE, IMPORT_HANDLE, tmp_path / "run")


def test_memory_survives_its_owner(tmp_path):
    owner_dies(EXPORT_KEY, IMPORT_KEY, tmp_path / "run")
    owner_dies(EXPORT_HANDLE, IMPORT_HANDLE, tmp_path / "run")


def test_memory_survives_an_importer(tmp_path):
    importer_dies(EXPORT_KEY, IMPORT_KEY, tmp_path / "run")
    importer_dies(EXPORT_HANDLE, IMPORT_HANDLE, tmp_path / "run")
