"""The package `cannery` in programs with threads: contexts, shared objects, exceptions."""

import gc
import random
import threading

from isolated import isolated, raises, run

MIB = 1 << 20


@isolated(env={"CANNERY_DEVICES": "2"})
def test_contexts_nest_and_come_back():
    import cannery

    with cannery.session(0) as device:
        outer = cannery.Context.current()
        with cannery.Context(1) as other:
            assert cannery.Device.current().id == 1 and other.device == 1
            with outer.use():
                assert cannery.Device.current() == device
            assert cannery.Context.current() == other
        assert cannery.Context.current() == outer
        with raises(cannery.UseAfterFree), other.use():
            pass


def test_an_exception_of_a_thread_that_nobody_takes_is_told():
    program = """
import gc, threading, cannery
def fails(what):
    raise KeyError(what)
with cannery.session():
    told = []
    usual = threading.excepthook
    threading.excepthook = lambda args: told.append((args.exc_value.args, args.thread.name))
    thread = cannery.Thread(fails, ("dropped",), name="one")
    thread.start()
    thread.join()
    assert told == []
    del thread
    gc.collect()
    assert told == [(("dropped",), "one")], told
    thread = cannery.Thread(fails, ("taken",))
    thread.start()
    for _ in range(2):
        try:
            thread.result()
        except KeyError as error:
            assert error.args == ("taken",)
            del error
        else:
            raise SystemExit("nothing was raised")
    del thread
    gc.collect()
    assert len(told) == 1
    threading.excepthook = usual
    cannery.Thread(fails, ("never kept",), name="two").start()
    kept = cannery.Thread(fails, ("kept to the end",), name="three")
    kept.start()
    kept.join()
"""
    told = run("-c", program).stderr
    assert told.count("Traceback") == 2 and "taken" not in told, told
    for name, what in (("two", "never kept"), ("three", "kept to the end")):
        assert f"Exception in thread {name}:" in told and f"KeyError: '{what}'" in told, told


@isolated(env={"CANNERY_DEVICES": "2"})
def test_threads_carry_the_context():
    import cannery

    with cannery.session(1):
        bare = []

        def without():
            try:
                cannery.DeviceBuffer(64)
            except cannery.NoContext as error:
                bare.append(error)

        thread = threading.Thread(target=without)
        thread.start()
        thread.join()
        assert len(bare) == 1
        sent = random.Random(5).randbytes(MIB)
        threads = [cannery.Thread(lambda: cannery.DeviceBuffer.of(sent).tobytes()) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert all(thread.result() == sent for thread in threads)
        thread = cannery.Thread(lambda: 1 // 0)
        thread.start()
        with raises(ZeroDivisionError):
            thread.result()


@isolated
def test_many_threads_on_one_stream():
    import cannery

    with cannery.session(), cannery.Stream() as stream:
        sent = [random.Random(number).randbytes(MIB) for number in range(4)]

        def work(number):
            source = cannery.PinnedBuffer.of(sent[number])
            for _ in range(30):
                device, back = cannery.DeviceBuffer(MIB), cannery.PinnedBuffer(MIB)
                device.copy_from_async(source, stream)
                device.copy_to_async(back, stream)
                assert back.tobytes() == sent[number]

        threads = [cannery.Thread(work, (number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.result()
        assert stream.in_flight == 0
        stream.synchronize()
        del threads, thread
        gc.collect()
        assert cannery.snapshot().blocks == 0


@isolated
def test_two_threads_that_close_one_buffer_free_it_once():
    import cannery

    with cannery.session():
        for _ in range(200):
            buffer = cannery.DeviceBuffer(64)
            start = threading.Barrier(4)

            def close(buffer=buffer, start=start):
                start.wait()
                buffer.close()

            threads = [cannery.Thread(close) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.result()
        assert cannery.snapshot() == ({}, {}) and cannery.lost_errors() == (0, [])
