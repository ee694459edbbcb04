"""Start, end, threads and forks."""

import json
import os
import threading

from isolated import isolated, run

NO_CONTEXT, REPEATED_INIT, REPEATED_FINALIZE, FORKED = 107002, 100002, 100037, 507033


@isolated
def test_init_counts():
    import acl

    assert acl.init() == 0
    assert acl.init() == REPEATED_INIT
    assert acl.init() == REPEATED_INIT
    assert acl.finalize_reference() == (2, 0)
    assert acl.finalize() == 0
    assert acl.finalize() == REPEATED_FINALIZE
    assert acl.finalize("ignored", 1) == REPEATED_FINALIZE
    assert acl.init() == 0


def test_the_configuration_file(tmp_path):
    good = tmp_path / "acl.json"
    good.write_text("{}")
    bad = tmp_path / "bad.json"
    bad.write_text("{ this is no JSON")
    program = """
import sys, acl
print(acl.init(sys.argv[1]))
"""
    assert run("-c", program, str(good)).stdout == "0\n"
    assert run("-c", program, "acl.json", cwd=tmp_path).stdout == "0\n"  # relative to the program's directory
    assert run("-c", program, str(bad)).stdout != "0\n"
    assert run("-c", program, str(tmp_path / "missing.json")).stdout != "0\n"


@isolated
def test_a_new_thread_has_no_context():
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    context, ret = acl.rt.get_context()
    assert ret == 0
    got = []

    def worker(_=None):
        got.append(acl.rt.get_device())
        got.append(acl.rt.malloc(64, 0))
        got.append(acl.rt.malloc_host(64))
        got.append(acl.get_recent_err_msg())
        got.append(acl.rt.set_context(context))
        pointer, ret = acl.rt.malloc(64, 0)
        got.append(ret)
        got.append(acl.rt.free(pointer))

    def check():
        text = got.pop(3)
        assert got == [(0, NO_CONTEXT), (0, NO_CONTEXT), (0, NO_CONTEXT), 0, 0, 0]
        assert "thread" in text
        got.clear()

    ordinary = threading.Thread(target=worker)
    ordinary.start()
    ordinary.join()
    check()
    thread, _ = acl.util.start_thread(worker, [])
    assert acl.util.stop_thread(thread) == 0
    check()
    assert acl.get_recent_err_msg() is None  # texts belong to their thread


@isolated
def test_threads_share_what_they_allocate():
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    data = os.urandom(1 << 20)
    results = []

    def worker(number):
        assert acl.rt.set_device(0) == 0
        size = len(data)
        for _ in range(20):
            device, ret = acl.rt.malloc_cached(size, number % 3)
            assert ret == 0
            copy = bytes(size)
            assert acl.rt.memcpy(device, size, acl.util.bytes_to_ptr(data), size, 1) == 0
            assert acl.rt.memcpy(acl.util.bytes_to_ptr(copy), size, device, size, 2) == 0
            assert copy == data
            assert acl.rt.free(device) == 0
        assert acl.rt.reset_device(0) == 0
        results.append(number)

    threads = [threading.Thread(target=worker, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 1, 2, 3]


@isolated
def test_a_forked_child_gets_a_code_until_it_starts_afresh():
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    device, ret = acl.rt.malloc(1 << 20, 0)
    assert ret == 0
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        report = {"malloc": acl.rt.malloc(64, 0), "free": acl.rt.free(device), "text": acl.get_recent_err_msg()}
        report["init"] = acl.init()
        report["set"] = acl.rt.set_device(0)
        report["again"] = acl.rt.malloc(64, 0)[1]
        report["finalize"] = acl.finalize()
        os.write(writer, json.dumps(report).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        report = json.load(pipe)
    assert os.waitpid(child, 0)[1] == 0
    assert report["malloc"] == [0, FORKED]
    assert report["free"] == FORKED
    assert report["text"]
    assert (report["init"], report["set"], report["again"], report["finalize"]) == (0, 0, 0, 0)
    # The parent has lost nothing.
    assert acl.rt.memset(device, 1 << 20, 7, 1 << 20) == 0
    assert acl.rt.free(device) == 0


def test_multiprocessing_with_fresh_children(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import multiprocessing

def work(number):
    import acl
    assert acl.init() in (0, 100002)  # a worker may get a second piece of work
    assert acl.rt.set_device(0) == 0
    pointer, ret = acl.rt.malloc(1 << 20, 0)
    assert acl.rt.free(pointer) == 0
    return number, ret

if __name__ == "__main__":
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(sorted(pool.map(work, range(4))))
""")
    assert run(str(program)).stdout == "[(0, 0), (1, 0), (2, 0), (3, 0)]\n"


def test_a_program_may_end_without_any_clean_up():
    program = """
import acl
acl.init(); acl.rt.set_device(0)
blocks = [acl.rt.malloc(1 << 20, 0), acl.rt.malloc_host(1 << 20), acl.media.dvpp_malloc(1 << 20)]
print("end")
"""
    done = run("-c", program)
    assert done.stdout == "end\n"
    assert "rror" not in done.stderr


def test_finalize_in_a_destructor():
    """The manual advises against it, and many programs do it."""
    program = """
import acl

class Runtime:
    def __init__(self):
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        self.pointer, ret = acl.rt.malloc(1 << 20, 0)

    def __del__(self):
        acl.rt.free(self.pointer)
        acl.rt.reset_device(0)
        print(acl.finalize())

runtime = Runtime()
"""
    assert run("-c", program).stdout == "0\n"


@isolated
def test_nothing_before_init_crashes():
    import acl

    assert acl.rt.malloc(64, 0) == (0, NO_CONTEXT)
    assert acl.rt.free(12345) != 0
    assert acl.rt.get_device() == (0, NO_CONTEXT)
    assert acl.rt.synchronize_device() != 0
    assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(b"bytes"), 5) == b"bytes"
    assert acl.get_version()[3] == 0


@isolated(env={"CANNERY_DEVICES": "2"})
def test_two_devices():
    import acl

    assert acl.init() == 0
    assert acl.rt.get_device_count() == (2, 0)
    pointers = []
    for device in (0, 1):
        assert acl.rt.set_device(device) == 0
        assert acl.rt.get_device() == (device, 0)
        pointer, ret = acl.rt.malloc(1 << 20, 0)
        assert ret == 0
        assert acl.rt.pointer_get_attributes(pointer)[0]["location"] == {"id": device, "type": 1}
        pointers.append(pointer)
    assert acl.rt.set_device(2) != 0
    assert acl.rt.device_can_access_peer(0, 1)[1] == 0
    assert [acl.rt.free(pointer) for pointer in pointers] == [0, 0]


@isolated
def test_last_error_belongs_to_the_thread():
    import acl

    assert acl.rt.get_last_error(0) == 0
    assert acl.rt.malloc(64, 0)[1] == NO_CONTEXT
    assert acl.rt.peek_at_last_error(0) == NO_CONTEXT
    assert acl.rt.get_last_error(0) == NO_CONTEXT
    assert acl.rt.get_last_error(0) == 0
