"""Streams, events and callbacks of the runtime, as they look from Python.

A callback runs in a thread of the program, so a call that waits for a stream must let other
threads run: nearly every test here would hang if one of them kept the GIL.
"""

import ctypes
import os
import threading
import time
import weakref

import pytest
from isolated import isolated, run

H2D, D2H, D2D, DEFAULT = 1, 2, 3, 4
NO_BLOCK, BLOCK = 0, 1
SYNC, TIME_LINE = 1, 8
OK, BAD_PARAMETER, BAD_HANDLE = 0, 107000, 107017
SCHEDULES = ["fifo", "eager", "lazy", "random:1", "random:2"]
SIZE = 10000


def start():
    """An initialised runtime with device 0. A hang shows where every thread stands."""
    import faulthandler

    import acl

    faulthandler.dump_traceback_later(30, exit=True)
    assert acl.init() == OK
    assert acl.rt.set_device(0) == OK
    return acl


def value(result):
    """The output of a call that succeeded."""
    output, ret = result
    assert ret == OK, ret
    return output


class Host:
    """Pinned host memory."""

    def __init__(self, acl, size=SIZE):
        self.pointer = value(acl.rt.malloc_host(size))
        self.size = size

    def write(self, data):
        ctypes.memmove(self.pointer, data, self.size)

    def read(self):
        return ctypes.string_at(self.pointer, self.size)


class Reporter:
    """A thread that runs the callbacks of the streams it is subscribed to."""

    def __init__(self, acl):
        self.acl = acl
        self.stop = False
        self.codes = set()
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()
        self.id = self.thread.ident

    def loop(self):
        while not self.stop:
            self.codes.add(self.acl.rt.process_report(20))

    def subscribe(self, stream):
        assert self.acl.rt.subscribe_report(self.id, stream) == OK

    def end(self, *streams):
        for stream in streams:
            assert self.acl.rt.unsubscribe_report(self.id, stream) == OK
        self.stop = True
        self.thread.join()


def schedules(function):
    """Runs a test once under each schedule."""

    @pytest.mark.parametrize("schedule", SCHEDULES)
    def test(schedule):
        under = isolated(function.inside, env={"CANNERY_SCHEDULE": schedule})
        under()

    test.inside = function.inside
    test.__name__ = function.__name__
    return test


def inside(function):
    """A body that `schedules` runs in a child, under its own name there."""
    function.inside = function
    return function


@schedules
@inside
def test_copies_in_stream_order():
    acl = start()
    stream = value(acl.rt.create_stream())
    first, second, back = Host(acl), Host(acl), Host(acl)
    data = os.urandom(SIZE), os.urandom(SIZE)
    first.write(data[0])
    second.write(data[1])
    block = value(acl.rt.malloc(SIZE, 0))
    assert acl.rt.memcpy_async(block, SIZE, first.pointer, SIZE, H2D, stream) == OK
    assert acl.rt.memcpy_async(block, SIZE, second.pointer, SIZE, DEFAULT, stream) == OK
    assert acl.rt.memcpy_async(back.pointer, SIZE, block, SIZE, D2H, stream) == OK
    assert acl.rt.memset_async(block, SIZE, 7, SIZE // 2, stream) == OK
    assert acl.rt.synchronize_stream(stream) == OK
    assert back.read() == data[1]
    assert acl.rt.stream_query(stream) == (0, OK)
    assert acl.rt.memcpy_async(back.pointer, SIZE, block, SIZE, D2H, stream) == OK
    assert acl.rt.synchronize_device() == OK
    assert back.read() == b"\x07" * (SIZE // 2) + data[1][SIZE // 2 :]
    assert acl.rt.destroy_stream(stream) == OK
    assert acl.rt.synchronize_stream(stream) == BAD_HANDLE
    assert acl.rt.memset_async(block, SIZE, 0, SIZE, stream) == BAD_HANDLE


@isolated
def test_pageable_memory_is_there_on_return():
    acl = start()
    stream = value(acl.rt.create_stream())
    data = os.urandom(SIZE)
    block = value(acl.rt.malloc(SIZE, 0))
    source = ctypes.create_string_buffer(data, SIZE)
    target = ctypes.create_string_buffer(SIZE)
    assert acl.rt.memcpy_async(block, SIZE, ctypes.addressof(source), SIZE, H2D, stream) == OK
    ctypes.memset(source, 0, SIZE)
    assert acl.rt.memcpy_async(ctypes.addressof(target), SIZE, block, SIZE, D2H, stream) == OK
    assert target.raw == data


@isolated
def test_handle_zero_is_the_default_stream():
    acl = start()
    default = value(acl.rt.ctx_get_current_default_stream())
    assert default != 0
    assert acl.rt.stream_get_id(0) == acl.rt.stream_get_id(default)
    block, host = value(acl.rt.malloc(SIZE, 0)), Host(acl)
    assert acl.rt.memset_async(block, SIZE, 9, SIZE, 0) == OK
    assert acl.rt.memcpy_async(host.pointer, SIZE, block, SIZE, D2H, default) == OK
    assert acl.rt.synchronize_stream(0) == OK
    assert host.read() == b"\x09" * SIZE
    assert acl.rt.destroy_stream(default) == BAD_PARAMETER
    assert acl.rt.destroy_stream(0) == 100000


@isolated
def test_what_a_stream_remembers():
    acl = start()
    stream = value(acl.rt.create_stream_with_config(100, 3))
    assert acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 77}) == OK
    assert acl.rt.get_stream_attribute(stream, 3) == ({"userCustomTag": 77}, OK)
    assert acl.rt.set_stream_overflow_switch(stream, 1) == OK
    assert acl.rt.get_stream_overflow_switch(stream) == (1, OK)
    assert acl.rt.get_stream_attribute(stream, 2) == ({"overflowSwitch": 1}, OK)
    before = value(acl.rt.get_stream_available_num())
    assert acl.rt.destroy_stream_force(stream) == OK
    assert value(acl.rt.get_stream_available_num()) == before + 1


@isolated
def test_status_of_events():
    """0 is "not ready" for one query, and "complete" for the deprecated one."""
    acl = start()
    stream = value(acl.rt.create_stream())
    plain = value(acl.rt.create_event())
    again = value(acl.rt.create_event_ex_with_flag(SYNC))
    assert acl.rt.query_event_status(plain) == (0, OK)
    assert acl.rt.query_event(plain) == (0, OK)
    assert acl.rt.query_event_status(again) == (1, OK)
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    go_on = threading.Event()
    assert acl.rt.launch_callback(lambda _: go_on.wait(), [], BLOCK, stream) == OK
    for event in (plain, again):
        assert acl.rt.record_event(event, stream) == OK
    assert acl.rt.query_event_status(plain) == (0, OK)
    assert acl.rt.query_event(plain) == (1, OK)
    assert acl.rt.query_event_status(again) == (0, OK)
    assert acl.rt.stream_query(stream) == (1, OK)
    assert acl.rt.synchronize_event_with_timeout(again, 20) == 507047
    assert acl.rt.synchronize_stream_with_timeout(stream, 20) == 507046
    go_on.set()
    assert acl.rt.synchronize_event(again) == OK
    assert acl.rt.synchronize_stream(stream) == OK
    assert acl.rt.query_event_status(plain) == (1, OK)
    assert acl.rt.query_event(plain) == (0, OK)
    reporter.end(stream)
    for event in (plain, again):
        assert acl.rt.destroy_event(event) == OK
        assert acl.rt.record_event(event, stream) == BAD_HANDLE


@schedules
@inside
def test_events_put_streams_in_order():
    acl = start()
    first, second = value(acl.rt.create_stream()), value(acl.rt.create_stream())
    event = value(acl.rt.create_event_ex_with_flag(SYNC))
    block, host, back = value(acl.rt.malloc(SIZE, 0)), Host(acl), Host(acl)
    for _ in range(20):
        data = os.urandom(SIZE)
        host.write(data)
        assert acl.rt.memcpy_async(block, SIZE, host.pointer, SIZE, H2D, first) == OK
        assert acl.rt.record_event(event, first) == OK
        assert acl.rt.stream_wait_event(second, event) == OK
        assert acl.rt.memcpy_async(back.pointer, SIZE, block, SIZE, D2H, second) == OK
        assert acl.rt.synchronize_stream(second) == OK
        assert back.read() == data


@isolated
def test_time_between_events():
    acl = start()
    stream = value(acl.rt.create_stream())
    begin, end = (value(acl.rt.create_event_with_flag(SYNC | TIME_LINE)) for _ in range(2))
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    started = time.monotonic()
    assert acl.rt.record_event(begin, stream) == OK
    assert acl.rt.launch_callback(lambda _: time.sleep(0.03), [], BLOCK, stream) == OK
    assert acl.rt.record_event(end, stream) == OK
    assert acl.rt.synchronize_stream(stream) == OK
    most = (time.monotonic() - started) * 1000
    elapsed = value(acl.rt.event_elapsed_time(begin, end))
    assert 29 <= elapsed <= most
    assert value(acl.rt.event_elapsed_time(end, begin)) == -elapsed
    stamps = [value(acl.rt.event_get_timestamp(event)) for event in (begin, end)]
    assert abs((stamps[1] - stamps[0]) / 1000 - elapsed) < 0.1
    reporter.end(stream)


@schedules
@inside
def test_callbacks_run_in_the_subscribed_thread():
    acl = start()
    streams = [value(acl.rt.create_stream()) for _ in range(3)]
    reporter = Reporter(acl)
    got = []

    def note(data):
        assert threading.get_ident() == reporter.id
        got.append(data[0])

    for stream in streams:
        reporter.subscribe(stream)
    for i in range(50):
        for s, stream in enumerate(streams):
            assert acl.rt.launch_callback(note, [(s, i)], BLOCK, stream) == OK
    for stream in streams:
        assert acl.rt.synchronize_stream(stream) == OK
    assert len(got) == 150
    for s in range(3):
        assert [i for which, i in got if which == s] == list(range(50))
    reporter.end(*streams)
    # Nothing subscribed yet, nothing in time, and the callbacks themselves.
    assert reporter.codes <= {OK, 107012, 507012}


@isolated
def test_the_thread_of_acl_util():
    acl = start()
    got, stop = [], threading.Event()

    def loop(arguments):
        got.extend(arguments)
        while not stop.is_set():
            acl.rt.process_report(20)

    thread = value(acl.util.start_thread(loop, ["reports"]))
    stream = value(acl.rt.create_stream())
    assert acl.rt.subscribe_report(thread, stream) == OK
    assert acl.rt.launch_callback(got.extend, ["ran"], BLOCK, stream) == OK
    assert acl.rt.synchronize_stream(stream) == OK
    assert got == ["reports", "ran"]
    assert acl.rt.unsubscribe_report(thread, stream) == OK
    stop.set()
    assert acl.util.stop_thread(thread) == OK


@isolated
def test_blocking_and_other_callbacks():
    acl = start()
    stream = value(acl.rt.create_stream())
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    go_on = threading.Event()
    host, block = Host(acl), value(acl.rt.malloc(SIZE, 0))
    assert acl.rt.launch_callback(lambda _: go_on.wait(), [], NO_BLOCK, stream) == OK
    # The stream goes on while that callback still runs ...
    assert acl.rt.memset_async(block, SIZE, 5, SIZE, stream) == OK
    assert acl.rt.memcpy_async(host.pointer, SIZE, block, SIZE, D2H, stream) == OK
    assert acl.rt.synchronize_stream(stream) == OK
    assert host.read() == b"\x05" * SIZE
    # ... and stands behind one that blocks.
    assert acl.rt.launch_callback(lambda _: None, [], BLOCK, stream) == OK
    assert acl.rt.synchronize_stream_with_timeout(stream, 30) == 507046
    go_on.set()
    assert acl.rt.synchronize_stream(stream) == OK
    reporter.end(stream)


PAGEABLE = ctypes.create_string_buffer(64)
WAITS = {
    "synchronize_stream": lambda acl, stream, host, block: acl.rt.synchronize_stream(stream),
    "synchronize_stream_with_timeout": (
        lambda acl, stream, host, block: acl.rt.synchronize_stream_with_timeout(stream, 20000)
    ),
    "synchronize_device": lambda acl, stream, host, block: acl.rt.synchronize_device(),
    "synchronize_device_with_timeout": (lambda acl, stream, host, block: acl.rt.synchronize_device_with_timeout(20000)),
    "destroy_stream": lambda acl, stream, host, block: acl.rt.destroy_stream(stream),
    "reset_device": lambda acl, stream, host, block: acl.rt.reset_device(0),
    "pageable_fill": lambda acl, stream, host, block: acl.rt.memset_async(
        ctypes.addressof(PAGEABLE), 64, 1, 64, stream
    ),
    "pageable_copy": lambda acl, stream, host, block: acl.rt.memcpy_async(
        ctypes.addressof(PAGEABLE), 64, block, 64, D2H, stream
    ),
    "buffered_copy": lambda acl, stream, host, block: acl.rt.memcpy_async(block, 64, host.pointer, 64, 5, stream),
}


@pytest.mark.parametrize("name", WAITS)
def test_waits_let_callbacks_run(name):
    """The callback needs the GIL while another thread is inside the call."""
    isolated(wait_with_callback)(name=name)


def wait_with_callback(name):
    """The body of the test above, in a child."""
    acl = start()
    stream = value(acl.rt.create_stream())
    host, block = Host(acl), value(acl.rt.malloc(SIZE, 0))
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    got = []

    def slow(_):
        # Long enough for the other thread to be inside its call; several switches of the GIL.
        for _ in range(20):
            time.sleep(0.002)
        got.append(1)

    assert acl.rt.launch_callback(slow, [], BLOCK, stream) == OK
    assert WAITS[name](acl, stream, host, block) == OK
    if name != "buffered_copy":  # It owns its source's bytes at once, and need not wait.
        assert got == [1]
    reporter.stop = True
    reporter.thread.join()
    assert got == [1]


wait_with_callback.inside = wait_with_callback


def test_destroying_a_context_lets_callbacks_run():
    isolated(destroy_context_with_callback)()


def destroy_context_with_callback():
    """The body of the test above, in a child."""
    acl = start()
    context = value(acl.rt.create_context(0))
    stream = value(acl.rt.create_stream())
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    got = []

    def slow(_):
        time.sleep(0.05)
        got.append(1)

    assert acl.rt.launch_callback(slow, [], BLOCK, stream) == OK
    assert acl.rt.destroy_context(context) == OK
    assert got == [1]
    reporter.stop = True
    reporter.thread.join()


destroy_context_with_callback.inside = destroy_context_with_callback


@isolated
def test_other_threads_run_while_one_waits():
    acl = start()
    stream = value(acl.rt.create_stream())
    notify = value(acl.rt.create_notify(0))
    other = value(acl.rt.create_stream())
    context = value(acl.rt.get_context())
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == OK
    turns = []

    def work():
        assert acl.rt.set_context(context) == OK
        for i in range(100):
            turns.append(i)
            time.sleep(0.0005)
        assert acl.rt.record_notify(notify, other) == OK

    thread = threading.Thread(target=work)
    thread.start()
    # Only the other thread can end this wait.
    assert acl.rt.synchronize_stream(stream) == OK
    assert len(turns) == 100
    thread.join()
    assert acl.rt.destroy_notify(notify) == OK


@schedules
@inside
def test_threads_with_streams_of_their_own():
    acl = start()
    context = value(acl.rt.get_context())
    faults = []

    def work(number):
        assert acl.rt.set_context(context) == OK
        stream = value(acl.rt.create_stream())
        host, back = Host(acl), Host(acl)
        block = value(acl.rt.malloc(SIZE, 0))
        for _ in range(50):
            data = os.urandom(SIZE)
            host.write(data)
            assert acl.rt.memcpy_async(block, SIZE, host.pointer, SIZE, H2D, stream) == OK
            assert acl.rt.memcpy_async(back.pointer, SIZE, block, SIZE, D2H, stream) == OK
            assert acl.rt.synchronize_stream(stream) == OK
            if back.read() != data:
                faults.append(number)
        assert acl.rt.destroy_stream(stream) == OK

    def guarded(number):
        try:
            work(number)
        except AssertionError as error:
            faults.append((number, repr(error)))

    threads = [threading.Thread(target=guarded, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


@isolated
def test_values_in_device_memory():
    acl = start()
    first, second = value(acl.rt.create_stream()), value(acl.rt.create_stream())
    cell = value(acl.rt.malloc(8, 0))
    host = Host(acl, 8)
    assert acl.rt.memset(cell, 8, 0, 8) == OK
    assert acl.rt.value_wait(cell, 5, 0, first) == OK
    assert acl.rt.synchronize_stream_with_timeout(first, 20) == 507046
    assert acl.rt.value_write(cell, 2**63 - 1, 0, second) == OK
    assert acl.rt.memcpy_async(host.pointer, 8, cell, 8, D2H, first) == OK
    assert acl.rt.synchronize_stream(first) == OK
    assert host.read() == (2**63 - 1).to_bytes(8, "little")
    assert acl.rt.value_write(cell, 1, 1, second) == BAD_PARAMETER
    assert acl.rt.value_wait(cell, 1, 4, second) == BAD_PARAMETER


@isolated
def test_a_callback_that_raises_holds_nothing_up():
    import sys

    acl = start()
    stream = value(acl.rt.create_stream())
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    raised, got = [], []
    sys.unraisablehook = lambda args: raised.append(args.exc_value)

    def body(data):
        raise ArithmeticError(data[0])

    assert acl.rt.launch_callback(body, ["inside"], BLOCK, stream) == OK
    assert acl.rt.launch_callback(got.extend, ["after"], BLOCK, stream) == OK
    assert acl.rt.synchronize_stream(stream) == OK
    assert [repr(error) for error in raised] == ["ArithmeticError('inside')"]
    assert got == ["after"]
    reporter.end(stream)


@isolated
def test_callbacks_give_their_references_back():
    acl = start()
    stream = value(acl.rt.create_stream())

    class Data(list):
        pass

    data = Data()
    gone = weakref.ref(data)
    assert acl.rt.launch_callback(len, data, BLOCK, stream) == 107015  # nobody is subscribed
    del data
    assert gone() is None
    reporter = Reporter(acl)
    reporter.subscribe(stream)
    for block in (NO_BLOCK, BLOCK):
        data = Data()
        gone = weakref.ref(data)
        assert acl.rt.launch_callback(len, data, block, stream) == OK
        del data
    assert acl.rt.synchronize_stream(stream) == OK
    reporter.end(stream)
    assert gone() is None


@isolated
def test_who_may_process_reports():
    acl = start()
    stream = value(acl.rt.create_stream())
    me = threading.get_ident()
    assert acl.rt.process_report(20) == 107012
    assert acl.rt.subscribe_report(me, stream) == OK
    assert acl.rt.subscribe_report(me, stream) == 107011
    assert acl.rt.process_report(20) == 507012
    assert acl.rt.process_report(0) == 100000
    got = []
    assert acl.rt.launch_callback(got.extend, [1, 2], NO_BLOCK, stream) == OK
    assert acl.rt.process_report(1000) == OK
    assert got == [1, 2]
    assert acl.rt.unsubscribe_report(me + 64, stream) == 107012
    assert acl.rt.unsubscribe_report(me, stream) == OK
    assert acl.rt.process_report(20) == 107012


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_interpreter_ends_with_work_queued(schedule):
    """Callbacks that nobody runs any more, copies, and a thread inside process_report."""
    program = """
import faulthandler, os, threading
import acl
faulthandler.dump_traceback_later(30, exit=True)
assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
block, ret = acl.rt.malloc(1 << 20, 0)
host, ret = acl.rt.malloc_host(1 << 20)
def loop():
    while True:
        acl.rt.process_report(-1)
thread = threading.Thread(target=loop, daemon=True)
thread.start()
assert acl.rt.subscribe_report(thread.ident, stream) == 0
never = threading.Event()
for function in (lambda _: None, lambda _: never.wait(), lambda _: os._exit(9)):
    assert acl.rt.launch_callback(function, [], 1, stream) == 0
for _ in range(100):
    assert acl.rt.memcpy_async(block, 1 << 20, host, 1 << 20, 1, stream) == 0
print("the end")
"""
    done = run("-c", program, env={"CANNERY_SCHEDULE": schedule})
    assert done.stdout == "the end\n"
