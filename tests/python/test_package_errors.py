"""The package `cannery`: what it refuses, and what its exceptions carry."""

import json
import os
import pickle
import re

import numpy
from isolated import ROOT, isolated, raises, run

MIB = 1 << 20


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
