"""Notifies and events that two processes share, with both ends and both deaths."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest

PREFIX = pathlib.Path(os.environ.get("CANNERY_PREFIX", "target/prefix")).resolve()
DRIVER_ERROR = 507899

HEAD = """
import acl, ctypes, os, sys, time
lib = ctypes.CDLL("libascendcl.so")
def ok(code, what=""):
    assert code == 0, (what, code, acl.get_recent_err_msg())
ok(acl.init()); ok(acl.rt.set_device(0))
stream, code = acl.rt.create_stream(); ok(code)
def say(text):
    print(text, flush=True)
"""


@pytest.fixture
def run_dir(tmp_path):
    """Runtime directory of one test."""
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    return path


def start(code, run_dir, *args):
    """A process that runs `code` after the usual start."""
    env = dict(os.environ, CANNERY_RUNTIME_DIR=str(run_dir), PYTHONPATH=str(PREFIX / "python"))
    env["LD_LIBRARY_PATH"] = f"{PREFIX / 'lib64'}:{env.get('LD_LIBRARY_PATH', '')}"
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + textwrap.dedent(code), *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )


EXPORT_AND_WAIT = """
    notify, code = acl.rt.create_notify(0); ok(code)
    key, code = acl.rt.notify_get_export_key(notify, 65, int(sys.argv[1])); ok(code, "export")
    say(key)
    if sys.stdin.readline().strip():
        ok(acl.rt.notify_set_import_pid(notify, [int(sys.stdin.readline())]), "pid")
        say("listed")
    ok(acl.rt.wait_and_reset_notify(notify, stream, 0))
    say(acl.rt.synchronize_stream(stream))
    ok(acl.rt.destroy_notify(notify))
    ok(acl.rt.reset_device(0)); ok(acl.finalize())
"""

IMPORT = """
    notify, code = acl.rt.notify_import_by_key(sys.argv[1], 0)
    say(code)
    if code == 0:
        sys.stdin.readline()
        ok(acl.rt.record_notify(notify, stream))
        ok(acl.rt.synchronize_stream(stream))
        ok(acl.rt.destroy_notify(notify))
    sys.stdin.readline()
"""


def test_a_notify_crosses_processes(run_dir):
    owner = start(EXPORT_AND_WAIT, run_dir, "2")
    key = owner.stdout.readline().strip()
    owner.stdin.write("\n")
    owner.stdin.flush()
    assert 0 < len(key) < 65
    other = start(IMPORT, run_dir, key)
    assert other.stdout.readline().strip() == "0"
    other.stdin.write("go\nend\n")
    other.stdin.flush()
    assert owner.stdout.readline().strip() == "0"
    assert owner.wait(20) == 0 and other.wait(20) == 0
    assert list(run_dir.iterdir()) == []


def test_the_list_of_processes_is_kept(run_dir):
    owner = start(EXPORT_AND_WAIT, run_dir, "0")
    key = owner.stdout.readline().strip()
    stranger = start(IMPORT, run_dir, key)
    assert stranger.stdout.readline().strip() == "107000"
    stranger.communicate("\n", timeout=20)
    friend = start("    say(os.getpid()); sys.stdin.readline()\n" + IMPORT, run_dir, key)
    pid = friend.stdout.readline().strip()
    owner.stdin.write(f"list\n{pid}\n")
    owner.stdin.flush()
    assert owner.stdout.readline().strip() == "listed"
    friend.stdin.write("try\ngo\nend\n")
    friend.stdin.flush()
    assert friend.stdout.readline().strip() == "0"
    assert owner.stdout.readline().strip() == "0"
    assert owner.wait(20) == 0 and friend.wait(20) == 0


def test_unknown_keys_are_refused(run_dir):
    for key in ["no_such_key", "1-00", "../x", "a" * 200]:
        other = start(IMPORT, run_dir, key)
        assert other.stdout.readline().strip() == "107000", key
        other.communicate("\n", timeout=20)


def test_a_waiter_survives_the_death_of_the_importer(run_dir):
    owner = start(EXPORT_AND_WAIT, run_dir, "2")
    key = owner.stdout.readline().strip()
    other = start(IMPORT, run_dir, key)
    assert other.stdout.readline().strip() == "0"
    owner.stdin.write("\n")
    owner.stdin.flush()
    other.send_signal(signal.SIGKILL)
    other.wait(20)
    assert owner.stdout.readline().strip() == str(DRIVER_ERROR)
    assert owner.wait(20) == 0


def test_a_waiter_survives_the_death_of_the_owner_and_the_name_is_cleaned(run_dir):
    owner = start(EXPORT_AND_WAIT, run_dir, "2")
    key = owner.stdout.readline().strip()
    waiter = start(
        """
    notify, code = acl.rt.notify_import_by_key(sys.argv[1], 0); ok(code)
    ok(acl.rt.wait_and_reset_notify(notify, stream, 0))
    say("waiting")
    say(acl.rt.synchronize_stream(stream))
    """,
        run_dir,
        key,
    )
    assert waiter.stdout.readline().strip() == "waiting"
    owner.send_signal(signal.SIGKILL)
    owner.wait(20)
    assert waiter.stdout.readline().strip() == str(DRIVER_ERROR)
    assert waiter.wait(20) == 0
    assert len(list(run_dir.glob("share-*"))) == 1, "the dead owner's name is still there"
    after = start(EXPORT_AND_WAIT, run_dir, "2")
    after.stdout.readline()
    names = [path.name for path in run_dir.glob("share-*")]
    assert len(names) == 1 and str(after.pid) in names[0]
    after.kill()
    after.wait(20)


EVENT_OWNER = """
    class Handle(ctypes.Structure):
        _fields_ = [("reserved", ctypes.c_char * 64)]
    event = ctypes.c_void_p()
    ok(lib.aclrtCreateEventExWithFlag(ctypes.byref(event), 0x40), "create")
    handle = Handle()
    ok(lib.aclrtIpcGetEventHandle(event, ctypes.byref(handle)), "export")
    gate, code = acl.rt.create_notify(0); ok(code)
    ok(acl.rt.wait_and_reset_notify(gate, stream, 0))
    ok(lib.aclrtRecordEvent(event, ctypes.c_void_p(stream)), "record")
    say(bytes(handle).hex())
    sys.stdin.readline()
    second, code = acl.rt.create_stream(); ok(code)
    ok(acl.rt.record_notify(gate, second)); ok(acl.rt.synchronize_stream(stream))
    say("recorded")
    sys.stdin.readline()
"""

EVENT_USER = """
    class Handle(ctypes.Structure):
        _fields_ = [("reserved", ctypes.c_char * 64)]
    handle = Handle.from_buffer_copy(bytes.fromhex(sys.argv[1]))
    event = ctypes.c_void_p()
    ok(lib.aclrtIpcOpenEventHandle(handle, ctypes.byref(event)), "open")
    ok(lib.aclrtStreamWaitEvent(ctypes.c_void_p(stream), event), "wait")
    say(acl.rt.stream_query(stream)[0])
    say(acl.rt.synchronize_stream(stream))
    status = ctypes.c_int32()
    ok(lib.aclrtQueryEventStatus(event, ctypes.byref(status))); say(status.value)
"""


def test_an_event_crosses_processes(run_dir):
    owner = start(EVENT_OWNER, run_dir)
    handle = owner.stdout.readline().strip()
    user = start(EVENT_USER, run_dir, handle)
    assert user.stdout.readline().strip() == "1", "not reached yet"
    owner.stdin.write("go\n")
    owner.stdin.flush()
    assert owner.stdout.readline().strip() == "recorded"
    assert user.stdout.readline().strip() == "0"
    assert user.stdout.readline().strip() == "1"
    owner.communicate("end\n", timeout=20)
    assert user.wait(20) == 0 and owner.returncode == 0
    assert list(run_dir.iterdir()) == []


def test_an_event_whose_owner_dies(run_dir):
    owner = start(EVENT_OWNER, run_dir)
    handle = owner.stdout.readline().strip()
    user = start(EVENT_USER, run_dir, handle)
    assert user.stdout.readline().strip() == "1"
    owner.send_signal(signal.SIGKILL)
    owner.wait(20)
    assert user.stdout.readline().strip() == str(DRIVER_ERROR)
    user.wait(20)


# Queues a record for another process, then waits for its standard input: by no means of the library.
SILENT_OWNER = """
    class Handle(ctypes.Structure):
        _fields_ = [("reserved", ctypes.c_char * 64)]
    how, queue = sys.argv[1], ctypes.c_void_p(stream)
    block, code = acl.rt.malloc(1 << 20, 0); ok(code)
    host, code = acl.rt.malloc_host(1 << 20); ok(code)
    for _ in range(5):
        ok(acl.rt.memcpy_async(block, 1 << 20, host, 1 << 20, 1, stream))
    if how == "notify":
        notify, code = acl.rt.create_notify(0); ok(code)
        key, code = acl.rt.notify_get_export_key(notify, 65, 2); ok(code)
        ok(acl.rt.record_notify(notify, stream))
    elif how == "notify shared late":
        notify, code = acl.rt.create_notify(0); ok(code)
        ok(acl.rt.record_notify(notify, stream))
        key, code = acl.rt.notify_get_export_key(notify, 65, 2); ok(code)
    else:
        event, handle = ctypes.c_void_p(), Handle()
        ok(lib.aclrtCreateEventExWithFlag(ctypes.byref(event), 0x40))
        if how == "event shared late":
            ok(lib.aclrtRecordEvent(event, queue))
            ok(lib.aclrtIpcGetEventHandle(event, ctypes.byref(handle)))
        else:
            ok(lib.aclrtIpcGetEventHandle(event, ctypes.byref(handle)))
            ok(lib.aclrtRecordEvent(event, queue))
        key = bytes(handle).hex()
    say(key)
    sys.stdin.readline()
"""

IMPATIENT_USER = """
    class Handle(ctypes.Structure):
        _fields_ = [("reserved", ctypes.c_char * 64)]
    if sys.argv[1].startswith("notify"):
        notify, code = acl.rt.notify_import_by_key(sys.argv[2], 0); ok(code)
        ok(acl.rt.wait_and_reset_notify(notify, stream, 0))
    else:
        event = ctypes.c_void_p()
        handle = Handle.from_buffer_copy(bytes.fromhex(sys.argv[2]))
        ok(lib.aclrtIpcOpenEventHandle(handle, ctypes.byref(event)))
        ok(lib.aclrtStreamWaitEvent(ctypes.c_void_p(stream), event))
    say(acl.rt.synchronize_stream_with_timeout(stream, 30000))
"""


@pytest.mark.parametrize("schedule", ["fifo", "lazy", "random:1", "random:2"])
@pytest.mark.parametrize("how", ["event", "event shared late", "notify", "notify shared late"])
def test_work_that_another_process_waits_for_gets_on(run_dir, monkeypatch, schedule, how):
    monkeypatch.setenv("CANNERY_SCHEDULE", schedule)
    owner = start(SILENT_OWNER, run_dir, how)
    key = owner.stdout.readline().strip()
    user = start(IMPATIENT_USER, run_dir, how, key)
    assert user.stdout.readline().strip() == "0"
    owner.communicate("end\n", timeout=20)
    assert user.wait(20) == 0 and owner.returncode == 0
    assert list(run_dir.iterdir()) == []


MANY_EXPORTS = """
    def export(count):
        for _ in range(count):
            notify, code = acl.rt.create_notify(0); ok(code)
            key, code = acl.rt.notify_get_export_key(notify, 65, 2); ok(code)
        say(key)
    export(3)
    while sys.stdin.readline().strip() == "more":
        export(20)
"""


def test_names_of_the_dead_go_while_others_live(run_dir):
    first, second = start(MANY_EXPORTS, run_dir), start(MANY_EXPORTS, run_dir)
    first.stdout.readline()
    key = second.stdout.readline().strip()
    second.kill()
    second.wait(20)
    # Whoever knows the name finds nobody behind it.
    other = start(IMPORT, run_dir, key)
    assert other.stdout.readline().strip() == "107000"
    other.communicate("\n", timeout=20)
    first.stdin.write("more\n")
    first.stdin.flush()
    first.stdout.readline()
    names = [path.name for path in run_dir.glob("share-*")]
    assert len(names) == 23 and all(str(first.pid) in name for name in names), names
    first.communicate("end\n", timeout=20)
    assert list(run_dir.iterdir()) == []
