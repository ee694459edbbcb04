"""The package `cannery`: objects, exceptions and arrays on top of `acl`."""

import ast
import gc
import json
import os
import pickle
import random
import re
import subprocess
import sys
import threading

import numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isolated import ROOT, isolated, raises, run

MIB = 1 << 20
# Sizes around pages and far from them; the bytes are random and at least a MiB.
SIZES = st.integers(MIB, 3 * MIB)
ROUNDS = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def random_bytes(seed, size):
    """Reproducible random bytes."""
    return random.Random(seed).randbytes(size)


@isolated
def test_round_trips_of_random_data_through_every_kind_of_memory():
    import cannery

    @ROUNDS
    @given(size=SIZES, seed=st.integers(), data=st.data())
    def check(size, seed, data):
        sent = random_bytes(seed, size)
        start = data.draw(st.integers(0, size))
        stop = data.draw(st.integers(start, size))
        for kind in (cannery.DeviceBuffer, cannery.CachedBuffer, cannery.PinnedBuffer):
            with kind.of(sent) as buffer:
                assert len(buffer) == size and buffer.tobytes() == sent
                part = buffer[start:stop]
                assert part.tobytes() == sent[start:stop]
                replaced = random_bytes(seed + 1, stop - start)
                part.copy_from(replaced)
                expected = sent[:start] + replaced + sent[stop:]
                array = numpy.empty(size, "u1")
                buffer.copy_to(array)
                assert array.tobytes() == expected
                if start < stop:
                    part[1:].fill(seed & 0xFF)
                    expected = expected[: start + 1] + bytes([seed & 0xFF]) * (stop - start - 1) + expected[stop:]
                assert buffer.to_numpy().tobytes() == expected

    with cannery.session():
        check()
        assert cannery.snapshot().blocks == 0


@isolated(env={"CANNERY_SCHEDULE": "random:7"})
def test_queued_round_trips_keep_both_ends_alive():
    import cannery

    @ROUNDS
    @given(size=SIZES, seed=st.integers(), count=st.integers(1, 40))
    def check(size, seed, count):
        sent = random_bytes(seed, size)
        with cannery.Stream() as stream:
            received = cannery.PinnedBuffer(size)

            def launch(received):
                # Nobody but the stream knows these when the function returns.
                source = cannery.PinnedBuffer.of(sent)
                for _ in range(count):
                    device = cannery.DeviceBuffer(size)
                    stream.copy(device, source)
                    source = device
                stream.copy(received, source)

            launch(received)
            gc.collect()
            assert received.tobytes() == sent
            stream.synchronize()
            assert stream.in_flight == 0
            del received
            gc.collect()
            assert cannery.snapshot().blocks == 0

    with cannery.session():
        check()


@isolated
def test_memory_in_flight_is_not_freed_before_the_stream_has_passed_it():
    import acl
    import cannery

    sent = random_bytes(1, 2 * MIB)
    with cannery.session(), cannery.Stream() as stream, cannery.Stream() as opener:
        gate, ret = acl.rt.create_notify(0)
        assert ret == 0

        def shut():
            assert acl.rt.wait_and_reset_notify(gate, stream, 0) == 0

        enter = cannery.carry_context()

        def open_it():
            enter()  # a timer has a thread of its own
            assert acl.rt.record_notify(gate, opener) == 0

        source, device = cannery.PinnedBuffer.of(sent), cannery.DeviceBuffer(len(sent))
        shut()
        flight = stream.copy(device, source)
        assert not flight.done and stream.in_flight == 1
        with raises(cannery.TimedOut, "507047"):
            flight.wait(10)
        with raises(cannery.TimedOut, "507046"):
            stream.synchronize(10)
        del source
        gc.collect()
        assert cannery.snapshot().families[-1, "aclrtMallocHost"][0] == 1
        open_it()
        assert device.tobytes() == sent  # waits by itself
        assert flight.done and stream.in_flight == 0
        gc.collect()
        assert (-1, "aclrtMallocHost") not in cannery.snapshot().families
        # Closing waits as well.
        back = cannery.PinnedBuffer(len(sent))
        shut()
        flight = stream.copy(back, device)
        timer = threading.Timer(0.1, open_it)
        timer.start()
        device.close()
        assert flight.done and bytes(back) == sent
        timer.join()
        stream.fill(cannery.DeviceBuffer(MIB), 3)
        assert acl.rt.destroy_notify(gate) == 0


@isolated(env={"CANNERY_SCHEDULE": "lazy"})
def test_a_dropped_stream_and_its_buffers_finish_first():
    import cannery

    with cannery.session():
        sent = random_bytes(2, MIB)
        received = cannery.PinnedBuffer(MIB)
        stream = cannery.Stream()
        stream.copy(received, cannery.DeviceBuffer.of(sent))
        del stream
        gc.collect()
        assert received.tobytes() == sent
        del received
        gc.collect()
        assert cannery.snapshot().blocks == 0 and cannery.lost_errors() == (0, [])


@isolated
def test_staged_copies_take_what_is_pageable():
    import cannery

    with cannery.session(), cannery.Stream() as stream, cannery.DeviceBuffer(MIB) as device:
        sent = random_bytes(3, MIB)
        with raises(TypeError, "staged=True"):
            stream.copy(device, sent)
        with raises(TypeError, "PinnedBuffer"):
            stream.copy(bytearray(MIB), device)
        device.copy_from_async(sent, stream, staged=True)
        assert device.tobytes() == sent


@isolated
def test_pinned_memory_is_an_array_without_a_copy():
    import cannery

    with cannery.session():
        sent = random_bytes(4, MIB)
        buffer = cannery.PinnedBuffer.of(sent)
        array = numpy.asarray(buffer)
        assert array.tobytes() == sent and array.flags.writeable
        array[:4] = [9, 8, 7, 6]
        assert buffer[:4].tobytes() == bytes([9, 8, 7, 6])
        part = numpy.from_dlpack(buffer[4:MIB])
        assert part.tobytes() == sent[4:] and part.flags.writeable
        assert "dltensor_versioned" not in repr(buffer.__dlpack__()) and "dltensor_versioned" in repr(
            buffer.__dlpack__(max_version=(1, 0))
        )
        view = buffer.view()
        assert view[MIB - 1] == sent[-1]
        with raises(cannery.StillViewed, "arrays or views"):
            buffer.close()
        assert buffer.is_open and numpy.shares_memory(array[4:], part)
        # The last view frees it.
        address = buffer.address
        del buffer, array, view
        gc.collect()
        assert cannery.snapshot().blocks == 1 and part.ctypes.data == address + 4
        del part
        gc.collect()
        assert cannery.snapshot().blocks == 0
        # A capsule that nobody takes gives the memory back, too.
        buffer = cannery.PinnedBuffer(64)
        capsule = buffer.__dlpack__()
        with raises(cannery.StillViewed):
            buffer.close()
        del capsule
        buffer.close()


@isolated
def test_device_memory_is_no_host_memory():
    import cannery

    with cannery.session(), cannery.DeviceBuffer(64) as buffer:
        with raises(TypeError, "to_numpy"):
            numpy.asarray(buffer)
        with raises(BufferError, "PinnedBuffer"):
            buffer.__dlpack__()
        with raises(TypeError, "tobytes"):
            bytes(buffer)
        with raises(TypeError):
            iter(buffer)


@isolated
def test_misuse_is_told_before_it_does_harm():
    import cannery

    with cannery.session():
        buffer = cannery.DeviceBuffer(64)
        part = buffer[8:16]
        assert len(buffer[-8:]) == 8 and len(part[2:4]) == 2
        for bad in (slice(0, 65), slice(-65, None), slice(10, 9)):
            with raises(cannery.OutOfRange, "64 bytes"):
                buffer[bad]
        with raises(cannery.MisuseError, "step"):
            buffer[::2]
        with raises(TypeError, "slice"):
            buffer[3]
        with raises(cannery.OutOfRange, "equal sizes.*64 bytes.*has 65"):
            buffer.copy_from(bytes(65))
        with raises(cannery.OutOfRange, "from 0 to 255"):
            buffer.fill(256)
        with raises(cannery.MisuseError, "read-only"):
            buffer.copy_to(bytes(64))
        with raises(cannery.MisuseError, "contiguous"):
            buffer.copy_from(numpy.zeros(128, "u1")[::2])
        with raises(TypeError, "'int' has no memory"):
            buffer.copy_from(12)
        buffer.close()
        buffer.close()
        for use in (buffer.tobytes, part.tobytes, lambda: part.fill(1), lambda: buffer.address, buffer.__enter__):
            with raises(cannery.UseAfterFree, "64 bytes, closed"):
                use()
        stream, event = cannery.Stream(), cannery.Event()
        stream.close()
        event.close()
        with raises(cannery.UseAfterFree, "stream"):
            stream.synchronize()
        with raises(cannery.UseAfterFree, "event"):
            event.synchronize()
        assert cannery.snapshot().blocks == 0


@isolated(env={"CANNERY_DEVICES": "2"})
def test_a_stream_of_another_device_is_refused():
    import cannery

    with cannery.session(0), cannery.DeviceBuffer(64) as here, cannery.PinnedBuffer(64) as pinned:
        with cannery.Device(1), cannery.Stream() as there:
            for action in (
                lambda: there.copy(here, pinned),
                lambda: there.copy(pinned, here),
                lambda: there.fill(here, 1),
            ):
                with raises(cannery.WrongDevice, "on device 0, the stream on device 1"):
                    action()
            assert there.in_flight == 0


@isolated(env={"CANNERY_HBM_BYTES": "64M"})
def test_a_shortage_carries_its_numbers():
    import cannery

    with cannery.session():
        held = cannery.DeviceBuffer(8 * MIB)
        free = cannery.memory_info().free
        try:
            cannery.CachedBuffer(1 << 30)
        except cannery.OutOfMemory as error:
            assert isinstance(error, MemoryError) and isinstance(error, cannery.AclError)
            assert (error.code, error.name) == (207001, "ACL_ERROR_RT_MEMORY_ALLOCATION")
            assert error.api == "acl.rt.malloc_cached" and "aclrtMallocCached" in error.text
            assert error.numbers["asked"] == 1 << 30 < error.numbers["rounded"]
            assert 0 < error.numbers["free"] <= error.numbers["total"] < 64 * MIB
            assert error.numbers["largest"] <= error.numbers["free"]
            assert error.remedy and error.remedy in str(error)
            copy = pickle.loads(pickle.dumps(error))
            assert (type(copy), copy.code, copy.numbers, str(copy)) == (type(error), 207001, error.numbers, str(error))
        else:
            raise AssertionError("no shortage")
        assert cannery.memory_info().free == free
        held.close()


@isolated
def test_codes_become_exceptions():
    import acl
    import cannery

    with raises(cannery.NoContext, "aclrtSetDevice"):
        cannery.DeviceBuffer(64)
    with cannery.Process(), raises(cannery.InvalidArgument, "107001"):
        cannery.Device(99).open()
    with cannery.session():
        with raises(cannery.InvalidArgument, "100000"):
            cannery.DeviceBuffer(0)
        # The address was given back behind the package's back.
        buffer = cannery.DeviceBuffer(64)
        assert acl.rt.free(buffer.address) == 0
        with raises(cannery.InvalidArgument, "acl.rt.free failed with 107000"):
            buffer.close()
        buffer = cannery.DeviceBuffer(64)
        assert acl.rt.free(buffer.address) == 0
        del buffer
        count, errors = cannery.lost_errors(clear=True)
        assert count == 1 and errors[0].code == 107000
        assert cannery.lost_errors() == (0, [])


@isolated
def test_memory_of_an_earlier_life_of_the_device_is_not_freed_again():
    import acl
    import cannery

    process = cannery.Process().open()
    with cannery.Device(0):
        old, pinned = cannery.DeviceBuffer(MIB), cannery.PinnedBuffer(MIB)
        address = old.address
    with cannery.Device(0):
        new = cannery.DeviceBuffer(MIB)
        assert new.address == address  # what makes it dangerous
        del old
        gc.collect()
        new.fill(1)
        assert cannery.lost_errors() == (0, []) and cannery.snapshot().buffers["DeviceBuffer", 0] == (1, MIB)
        new.close()
        pinned.close()
        assert cannery.snapshot() == (({}, {}))
    process.close()
    assert acl.finalize() == 100037


@isolated(env={"CANNERY_DEVICES": "2"})
def test_memory_that_a_device_took_back_is_not_used_again():
    import acl
    import cannery

    def device_alone():
        with cannery.Device(0):
            yield

    def whole_session():
        with cannery.session(0):
            yield

    def through_acl():
        assert acl.rt.set_device(0) == 0
        yield
        assert acl.rt.reset_device(0) == 0

    def refused(old, part, new, host, stream):
        uses = (
            lambda: old.fill(1),
            lambda: part.fill(1),
            lambda: old.copy_from(bytes(MIB)),
            lambda: stream.copy(old, host),
            lambda: stream.copy(new, old),
            lambda: stream.fill(part, 1),
            lambda: acl.rt.memset(old, MIB, 1, MIB),
            old.tobytes,
            part.to_numpy,
            old.__enter__,
        )
        for use in uses:
            with raises(cannery.UseAfterFree, "taken back by device 0> .*is used after its device was reset"):
                use()

    def check(block, kind):
        sent = random_bytes(3, MIB)
        for _ in block():
            stream = cannery.Stream()
            old, host = kind(MIB), cannery.PinnedBuffer(MIB)
            part, address = old[64:128], old.address
            stream.copy(old, host)
            stream.synchronize()
        for _ in block():
            new = kind.of(sent)
            assert new.address == address  # what makes it dangerous
            refused(old, part, new, host, cannery.Stream())
            with raises(cannery.InvalidArgument, "107017"):
                stream.copy(new, host)
            assert not old.is_open and "taken back by device 0" in repr(old) and "taken back" in repr(part)
            host.fill(5)  # host memory belongs to no device
            assert host.tobytes() == bytes([5]) * MIB and new.tobytes() == sent
            old.close()
            del old, part
            gc.collect()
            assert new.tobytes() == sent
            new.close()
            host.close()
            assert cannery.snapshot().blocks == 0

    with cannery.Process():
        for kind in (cannery.DeviceBuffer, cannery.CachedBuffer):
            for block in (device_alone, whole_session, through_acl):
                check(block, kind)
    check(whole_session, cannery.DeviceBuffer)


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
        sent = random_bytes(5, MIB)
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
        sent = [random_bytes(number, MIB) for number in range(4)]

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


@isolated
def test_host_pointers_hold_what_they_point_to():
    import acl
    import cannery

    data = bytearray(random_bytes(6, MIB))
    with cannery.session(), cannery.DeviceBuffer(MIB) as device:
        pointer = cannery.HostPointer(data)
        assert acl.rt.memcpy(device, MIB, pointer, pointer.size, cannery.MemcpyKind.HOST_TO_DEVICE) == 0
        assert device.tobytes() == data
        with raises(BufferError):
            data.append(1)
        pointer.close()
        data.append(1)
        with raises(cannery.MisuseError, "closed"):
            int(pointer)
        assert acl.rt.memcpy(device, MIB, cannery.HostPointer(bytes(MIB)), MIB, 1) == 0
        assert device.tobytes() == bytes(MIB)
        with raises(cannery.OutOfRange, "which has 4"), cannery.borrowed(b"four", 5):
            pass
        strided = numpy.zeros((64, 64), "f4").T
        with raises(cannery.MisuseError, "ascontiguousarray"):
            cannery.HostPointer(strided)
        read_only = numpy.arange(MIB // 8)
        read_only.flags.writeable = False
        device.copy_from(read_only)
        assert device.to_numpy(read_only.dtype).tolist() == read_only.tolist()


@isolated(env={"CANNERY_HBM_BYTES": "64M", "CANNERY_LANG": "zh"})
def test_the_numbers_of_a_shortage_are_found_in_chinese_texts():
    import cannery

    with cannery.session():
        held = cannery.DeviceBuffer(8 * MIB)
        try:
            cannery.CachedBuffer(1 << 30)
        except cannery.OutOfMemory as error:
            assert error.numbers["asked"] == 1 << 30 < error.numbers["rounded"], error.text
            assert 0 < error.numbers["free"] <= error.numbers["total"] < 64 * MIB
            assert 0 < error.numbers["largest"] <= error.numbers["free"]
            step = error.remedy
            assert "CANNERY_HBM_BYTES" in step and any(ord(letter) > 0x4E00 for letter in step)
            assert not step.endswith("]") and step in error.text
        else:
            raise AssertionError("no shortage")
        held.close()


@isolated
def test_exceptions_carry_what_the_table_knows_of_code_and_function():
    """Every function with a name in Python, and every code: the table that the tool reads as well."""
    from cannery import errors

    def table(name):
        return [json.loads(line) for line in (ROOT / "knowledge" / name).read_text("utf-8").splitlines()]

    for row in table("functions.jsonl"):
        for name in row["python"]:
            error = errors.error_of(name, 107000)
            assert (error.api, error.function) == (name, row["function"])
            assert (error.chapter, error.manual) == (row["chapter"], row["manual"])
            assert list(error.rules) == [rule["text"] for rule in row["rules"]]
            assert set(error.lacking) == {product for product, has in row["products"].items() if has is False}
            copy = pickle.loads(pickle.dumps(error))
            assert (copy.function, copy.rules, copy.causes) == (error.function, error.rules, error.causes)
    codes = {row["code"]: row for row in table("codes.jsonl") if row["code"] != 0}
    assert len(codes) > 200
    for code, row in codes.items():
        error = errors.error_of("acl.rt.malloc", code)
        assert error.code == code and error.causes and error.remedy
        if error.name == row["name"]:
            assert (list(error.causes), error.remedy) == (row["en"]["causes"], row["en"]["remedy"])


@isolated
def test_the_language_is_chosen_as_the_runtime_does():
    from cannery import errors

    for variables, language in (
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "zh"}, "zh"),
        ({"LANG": "zh_CN", "CANNERY_LANG": "en"}, "en"),
        ({"LANG": "C", "CANNERY_LANG": "ZH-Hans"}, "zh"),
        ({"LANG": "zh_CN", "CANNERY_LANG": "fr"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ):
        for name in ("CANNERY_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
            os.environ.pop(name, None)
        os.environ.update(variables)
        assert errors.language() == language, variables


@isolated(env={"CANNERY_LANG": "zh"})
def test_remedies_speak_the_language_of_the_texts():
    import cannery

    with cannery.session():
        try:
            cannery.DeviceBuffer(0)
        except cannery.InvalidArgument as error:
            assert error.code == 100000 and any(ord(letter) > 0x4E00 for letter in error.remedy), error.remedy
        else:
            raise AssertionError("no error")


def test_it_calls_only_what_every_pyacl_has():
    """On a card `acl` is the vendor's: names that only Cannery's module has are asked for first."""
    known = {json.loads(line)["name"] for line in (ROOT / "spec" / "pyacl.jsonl").read_text("utf-8").splitlines()}
    used = set()
    for source in (ROOT / "crates" / "python" / "package" / "cannery").glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and re.fullmatch(r"acl(\.\w+)+", ast.unparse(node)):
                used.add(ast.unparse(node))
    functions = used - {"acl.rt", "acl.util"}
    assert len(functions) > 30 and functions <= known, functions - known


def test_a_program_that_uses_it_type_checks(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import cannery\n\n\ndef upload(data: bytes) -> cannery.DeviceBuffer:\n"
        "    with cannery.Stream() as stream:\n        buffer = cannery.DeviceBuffer(len(data))\n"
        "        flight: cannery.Flight = stream.copy(buffer[:4], data[:4], staged=True)\n"
        "        flight.wait()\n    reveal_type(buffer.to_numpy)\n    return buffer.address\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program)]
    environment = {
        **os.environ,
        "MYPYPATH": str(ROOT / "crates/python/package") + ":" + str(ROOT / "crates/python/stubs"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=False)
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines() if "error:" in line]
    assert lines == ['error: Incompatible return value type (got "int", expected "DeviceBuffer")  [return-value]'], (
        done.stdout
    )


def test_it_adds_little_to_the_calls_that_it_wraps():
    """The benchmark holds the limit of 400 ns; on a busy machine this finds only what is far from it."""
    done = run(str(ROOT / "tests" / "python" / "bench" / "package_calls.py"), "--json")
    rows = {row["row"]: row["added_a_call_ns"] for row in json.loads(done.stdout)}
    assert len(rows) == 9
    # A question to the card takes as long as other processes make it take.
    del rows["get_mem_info"]
    assert max(rows.values()) <= 1200, rows


def test_the_enums_are_those_of_the_contract():
    run("tools/gen_python.py", "--check", cwd=ROOT)


def test_every_public_name_has_a_docstring_and_is_typed():
    program = """
import cannery
for name in cannery.__all__:
    thing = getattr(cannery, name)
    assert thing.__doc__, name
    for member, value in vars(thing).items() if isinstance(thing, type) else ():
        if not member.startswith("_") and callable(value) and not isinstance(value, type) and "enum" not in repr(thing):
            assert value.__doc__, f"{name}.{member}"
"""
    run("-c", program)


def test_no_other_module_of_this_machine_is_needed():
    """NumPy and pytest are imported only by those who use them."""
    program = "import sys, cannery; assert not {'numpy', 'pytest', 'hypothesis'} & set(sys.modules)"
    run("-c", program)


@isolated(env={"CANNERY_DEVICES": "2"})
def test_objects_go_where_acl_wants_handles_and_numbers():
    import acl
    import cannery

    with cannery.session(0), cannery.Device(1) as device:
        assert acl.rt.set_device(device) == 0 and acl.rt.get_device() == (1, 0)
        assert acl.rt.reset_device(device) == 0
        with cannery.Context(device) as context, cannery.Stream() as stream, cannery.Event() as event:
            assert acl.rt.set_context(context) == 0 and acl.rt.get_context() == (context.handle, 0)
            assert acl.rt.record_event(event, stream) == 0 and acl.rt.synchronize_event(event) == 0
            assert event.done
        with raises(cannery.UseAfterFree, "context"):
            acl.rt.set_context(context)
        with raises(cannery.UseAfterFree, "event"):
            acl.rt.synchronize_event(event)


@isolated
def test_what_the_package_refuses_says_what_to_do():
    import cannery

    with cannery.session(), cannery.DeviceBuffer(64) as buffer, cannery.Stream() as stream:
        cached = cannery.CachedBuffer(64)
        refused = {
            "at least 1 byte": lambda: cannery.DeviceBuffer(-1),
            "from 0 to 255": lambda: buffer.fill(300),
            "or copy_from": lambda: buffer.fill_async(-1, stream),
            r"\[:63\]": lambda: buffer.to_numpy("V7"),
            "end at byte 64": lambda: cached.flush(0, 99),
            "0 or more": lambda: cached.invalidate(-1),
            "ask for 4 bytes": lambda: cannery.borrowed(b"four", 5).__enter__(),
        }
        for remedy, use in refused.items():
            try:
                use()
            except cannery.OutOfRange as error:
                assert re.search(remedy, error.remedy), (remedy, error.remedy)
            else:
                raise AssertionError(remedy)
        for value in ("a", b"a", 1.0, None, [1]):
            for use in (buffer.fill, lambda value: stream.fill(buffer, value)):
                with raises(TypeError, f"a fill takes one byte, .*not '{type(value).__name__}': use copy_from"):
                    use(value)
        buffer.fill(numpy.uint8(200))
        stream.fill(buffer[:32], numpy.int64(100))
        assert buffer.tobytes() == bytes([100]) * 32 + bytes([200]) * 32
        objects = numpy.array([None, 1])
        for data in (objects, numpy.zeros(2, [("a", "O"), ("b", "i4")]), memoryview(objects)):
            for use in (cannery.HostPointer, lambda data: cannery.borrowed(data).__enter__()):
                with raises(TypeError, "Python objects"):
                    use(data)
        context = cannery.Context()
        with raises(cannery.UseAfterFree), context.use():
            pass


@isolated
def test_a_forked_child_has_its_own_copy_of_pinned_memory():
    import cannery

    sent = random_bytes(9, MIB)
    with cannery.session():
        pinned = cannery.PinnedBuffer.of(sent)
        child = os.fork()
        if child == 0:
            same = bytes(pinned.view()) == sent == numpy.asarray(pinned).tobytes()
            numpy.asarray(pinned)[:] = 1
            try:
                pinned.tobytes()
            except cannery.DeviceFault as error:
                os._exit(0 if same and error.code == 507033 else 1)
            os._exit(2)
        assert os.waitpid(child, 0) == (child, 0)
        assert pinned.tobytes() == sent
        pinned.close()


def test_a_shortage_of_a_quota_carries_its_numbers():
    program = f"""
import cannery
with cannery.session(), cannery.DeviceBuffer({4 * MIB}):
    for size in (1 << 30, {8 * MIB}):
        try:
            cannery.DeviceBuffer(size)
        except cannery.OutOfMemory as error:
            numbers = error.numbers
            assert numbers["quota"] == {8 * MIB}, numbers
            # Of what is held a page more may be charged.
            assert {MIB} < numbers["quota_left"] <= {4 * MIB}, numbers
            assert numbers["total"] >= numbers["free"] > {8 * MIB}, numbers
        else:
            raise SystemExit("no shortage")
    try:
        cannery.DeviceBuffer(-1)
    except cannery.OutOfRange as error:
        assert str(error).isascii() and error.remedy.isascii()
"""
    for language in ("en", "zh"):
        run("-c", program, env={"CANNERY_QUOTA": "8M", "CANNERY_LANG": language})
