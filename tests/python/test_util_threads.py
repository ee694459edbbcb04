"""acl.util: threads."""

import ctypes
import signal
import subprocess
import sys
import threading
import time

from isolated import child_environment, isolated, raises, run


@isolated(echo=True)
def test_the_list_is_the_one_argument():
    import acl

    got = []
    numbers = [1, 2, 3]
    thread, ret = acl.util.start_thread(lambda *arguments: got.append(arguments), numbers)
    assert (type(thread), ret) == (int, 0)
    assert acl.util.stop_thread(thread) == 0
    assert got == [(numbers,)]
    assert got[0][0] is numbers


@isolated(echo=True)
def test_none_calls_without_argument():
    import acl

    got = []
    thread, _ = acl.util.start_thread(lambda *arguments: got.append(arguments), None)
    assert acl.util.stop_thread(thread) == 0
    assert got == [()]


@isolated(echo=True)
def test_any_object_is_passed_on():
    import acl

    got = []
    for argument in ((), [], {}, 5, "text", got):
        thread, _ = acl.util.start_thread(lambda given: got.append(given), argument)
        acl.util.stop_thread(thread)
        assert got.pop() is argument


@isolated(echo=True)
def test_the_id_is_that_of_the_thread():
    import acl

    got = []
    thread, _ = acl.util.start_thread(lambda _: got.append(threading.get_ident()), [])
    acl.util.stop_thread(thread)
    assert got == [thread]
    assert thread != threading.get_ident()


@isolated(echo=True)
def test_the_thread_runs_at_once_and_stop_waits_for_its_end():
    import acl

    running, end, log = threading.Event(), threading.Event(), []

    def body(_):
        running.set()
        end.wait()
        time.sleep(0.05)
        log.append("ended")

    thread, _ = acl.util.start_thread(body, [])
    assert running.wait(30)
    assert log == []
    threading.Timer(0.05, end.set).start()
    assert acl.util.stop_thread(thread) == 0  # other threads run meanwhile, or this would hang
    assert log == ["ended"]


@isolated(echo=True)
def test_an_id_can_be_stopped_once():
    import acl

    no_such_thread, would_wait_for_itself = 3, 35
    thread, _ = acl.util.start_thread(len, [])
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == no_such_thread
    assert acl.util.stop_thread(0) == no_such_thread
    assert acl.util.stop_thread(-1) == no_such_thread
    assert acl.util.stop_thread(threading.get_ident()) == would_wait_for_itself
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    assert acl.util.stop_thread(other.ident) == no_such_thread
    done.set()
    other.join()


def test_a_failure_is_printed_and_raised_by_stop():
    program = """
import acl
def body(_):
    raise LookupError("inside the thread")
thread, ret = acl.util.start_thread(body, [])
assert ret == 0
try:
    acl.util.stop_thread(thread)
except RuntimeError as error:
    print(type(error).__name__, error)
assert acl.util.stop_thread(thread) == 3
"""
    done = run("-c", program, echo=True)
    assert "inside the thread" in done.stderr and "Traceback" in done.stderr
    assert done.stdout.startswith("RuntimeError") and "LookupError" in done.stdout


@isolated(echo=True)
def test_what_cannot_be_called_is_refused():
    import acl

    for wrong in (None, 5, "name", []):
        with raises(ValueError):
            acl.util.start_thread(wrong, [])
    with raises(TypeError):
        acl.util.start_thread(len)
    with raises(TypeError):
        acl.util.stop_thread(None)


@isolated(echo=True)
def test_references_are_given_back():
    import acl

    class Body:
        def __call__(self, _):
            pass

    body, argument = Body(), [object()]
    before = sys.getrefcount(body), sys.getrefcount(argument)
    for _ in range(20):
        thread, _ = acl.util.start_thread(body, argument)
        acl.util.stop_thread(thread)
    assert (sys.getrefcount(body), sys.getrefcount(argument)) == before


@isolated(echo=True)
def test_many_threads():
    import acl

    total, lock = [], threading.Lock()

    def body(numbers):
        with lock:
            total.extend(numbers)

    threads = [acl.util.start_thread(body, [number])[0] for number in range(50)]
    assert len(set(threads)) > 1
    assert {acl.util.stop_thread(thread) for thread in dict.fromkeys(threads)} == {0}
    assert sorted(total) == list(range(50))


@isolated(echo=True)
def test_a_thread_has_room_for_recursion():
    import acl

    depth = []

    def down(level):
        return 0 if level == 0 else 1 + down(level - 1)

    thread, _ = acl.util.start_thread(lambda _: depth.append(down(900)), [])
    assert acl.util.stop_thread(thread) == 0
    assert depth == [900]


def test_ctrl_c_interrupts_the_wait_and_the_thread_stays():
    program = """
import acl, threading
end = threading.Event()
thread, _ = acl.util.start_thread(lambda _: end.wait(), [])
print("waiting", flush=True)
try:
    acl.util.stop_thread(thread)
except KeyboardInterrupt:
    print("interrupted", flush=True)
end.set()
print(acl.util.stop_thread(thread))
"""
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        env=child_environment(echo=True),
        stdout=subprocess.PIPE,
        text=True,
        # What is started in the background ignores it, and its children would, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert child.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=30)
    finally:
        child.kill()
    assert rest == "interrupted\n0\n"
    assert child.returncode == 0


def test_a_program_may_end_with_a_thread_running():
    program = """
import acl, threading, time
def body(_):
    while True:
        time.sleep(0.001)
acl.util.start_thread(body, [])
time.sleep(0.05)
print("end")
"""
    for _ in range(5):
        assert run("-c", program, echo=True).stdout == "end\n"


@isolated(echo=True)
def test_a_native_thread_id_is_a_pthread_id():
    import acl

    libc = ctypes.CDLL(None)
    libc.pthread_self.restype = ctypes.c_ulong
    got = []
    thread, _ = acl.util.start_thread(lambda _: got.append(libc.pthread_self()), [])
    acl.util.stop_thread(thread)
    assert got == [thread]
