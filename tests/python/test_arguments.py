"""Which Python objects an argument accepts, for every argument of the contract."""

import enum
import os

import numpy
from contract import NUMBERS, ROWS, arguments, find, kind
from echo_library import Echo, functions
from isolated import isolated, raises

BITS = {"u64w": 64, "u32w": 32, "u16w": 16, "i32": 32, "i64": 64}


class Indexed:
    """An integer by `__index__` alone."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class OnlyInt:
    """Has `__int__`, but is no integer."""

    def __int__(self):
        return 5


class Policy(enum.IntEnum):
    HUGE_FIRST = 5


def places(*kinds):
    """Every argument of these kinds: function, arguments of a good call, position, kind, C name."""
    known = functions()
    for row in ROWS:
        if row["c_function"] not in known or row["name"] == "acl.rt.launch_kernel_with_host_args":
            continue
        for position, arg in enumerate(row["args"]):
            if kind(row, arg) in kinds:
                yield find(row["name"]), arguments(row), position, kind(row, arg), row


def outcome(function, given, position, value):
    """The result of a call with one argument replaced."""
    return function(*given[:position], value, *given[position + 1 :])


@isolated(echo=True)
def test_no_number_is_a_type_error():
    checked = 0
    for function, given, position, _, _ in places(*NUMBERS):
        wrong = [1.0, None, "1", b"1", [1], OnlyInt(), numpy.float32(1), numpy.array([1, 2]), 1j]
        for value in wrong:
            with raises(TypeError):
                outcome(function, given, position, value)
        checked += 1
    assert checked > 300, checked


@isolated(echo=True)
def test_whatever_is_a_number_is_taken():
    """More than the original takes, and no less: NumPy integers of any width, enums, `__index__`."""
    echo = Echo()
    numbers = [5, Indexed(5), Policy.HUGE_FIRST, numpy.int64(5), numpy.uint8(5), numpy.array(5), numpy.prod([5])]
    for function, given, position, _, row in places(*NUMBERS):
        calls = set()
        for value in numbers:
            outcome(function, given, position, value)
            calls.add(echo.last())
        assert len(calls) == 1, (row["name"], calls)
        seen = set()
        for value in (True, 1, numpy.int16(1)):
            outcome(function, given, position, value)
            seen.add(echo.last())
        assert len(seen) == 1, (row["name"], seen)


@isolated(echo=True)
def test_large_numbers_wrap_where_the_original_wraps():
    echo = Echo()
    for function, given, position, conversion, row in places("u64w", "u32w", "u16w"):
        if row["name"] == "acl.rt.get_mem_uce_info" or "max_len" in row["args"][position]["name"]:
            continue
        if row["args"][position]["name"] in ("len", "dim_range_num"):
            continue  # limited before the call
        size = 1 << BITS[conversion]
        for value, same in ((-1, size - 1), (size + 5, 5), (5 - 3 * size, 5), (-(2**200) + 5, 5), (2**200 + 5, 5)):
            outcome(function, given, position, value)
            wrapped = echo.last()
            outcome(function, given, position, same)
            assert wrapped == echo.last(), (row["name"], value)


@isolated(echo=True)
def test_wrapped_words_arrive_with_all_bits():
    import acl

    echo = Echo()
    acl.rt.malloc(-1, 0)
    assert echo.last() == f"aclrtMalloc {2**64 - 1} 0"
    acl.rt.free(Indexed(-(2**64) + 17))
    assert echo.last() == "aclrtFree 17"
    acl.rt.device_enable_peer_access(0, -1)
    assert echo.last() == f"aclrtDeviceEnablePeerAccess 0 {2**32 - 1}"
    acl.float16_to_float(2**16 + 3)
    assert echo.last() == "aclFloat16ToFloat 3"


@isolated(echo=True)
def test_signed_numbers_out_of_range_are_a_type_error():
    for function, given, position, conversion, _ in places("i32", "i64"):
        limit = 1 << (BITS[conversion] - 1)
        for value in (limit, -limit - 1, 2**64, -(2**64), 2**200, numpy.uint64(2**63), Indexed(2**63)):
            with raises(TypeError):
                outcome(function, given, position, value)
        outcome(function, given, position, limit - 1)
        outcome(function, given, position, -limit)


@isolated(echo=True)
def test_signed_numbers_arrive_with_their_sign():
    import acl

    echo = Echo()
    acl.rt.set_device(-1)
    assert echo.last() == f"aclrtSetDevice {2**64 - 1}"  # the echo shows 64 bits
    acl.rt.set_sys_param_opt(-3, -(2**63))
    assert echo.last() == f"aclrtSetSysParamOpt {2**64 - 3} {2**63}"


@isolated(echo=True)
def test_texts():
    import acl

    echo = Echo()

    class Name(str):
        pass

    for function, given, position, _, _ in places("str"):
        for wrong in (None, b"text", 1, ["text"], "zero \0 inside"):
            with raises(TypeError):
                outcome(function, given, position, wrong)
        outcome(function, given, position, Name("sub class"))
        assert "'sub class'" in echo.last()
    acl.init("pfad/äöü/\N{GREEK SMALL LETTER ALPHA}")
    assert echo.last() == "aclInit 'pfad/äöü/\N{GREEK SMALL LETTER ALPHA}'"
    # A file name of the system that is no UTF-8 arrives byte for byte.
    acl.init(os.fsdecode(b"caf\xe9"))
    assert echo.library.echo_last() == b"aclInit 'caf\xe9'"


@isolated(echo=True)
def test_the_path_of_init_may_be_left_out_but_not_none():
    import acl

    echo = Echo()
    assert acl.init() == 0
    assert echo.last() == "aclInit 'NULL'"
    with raises(TypeError):
        acl.init(None)


@isolated(echo=True)
def test_lists_are_lists():
    for function, given, position, _, row in places("list"):
        if row["args"][position]["type"] != "list of int":
            continue
        with raises(TypeError):
            outcome(function, given, position, [1.5])
        with raises(TypeError):
            outcome(function, given, position, [1, None])
        outcome(function, given, position, [numpy.int32(1), True])


@isolated(echo=True)
def test_a_list_that_shrinks_while_it_is_read():
    import acl

    class Shrinking:
        def __index__(self):
            numbers.clear()
            return 1

    numbers = [Shrinking(), 2, 3]
    assert acl.rt.notify_batch_reset(numbers) == 0
    assert Echo().last() == f"aclrtNotifyBatchReset <{(1).to_bytes(8, 'little').hex()}> 1"


@isolated(echo=True)
def test_floats():
    import acl

    echo = Echo()
    for number in (1.5, numpy.float32(1.5), 1, True, numpy.int8(1)):
        assert acl.float_to_float16(number) == 5
        assert echo.last() == f"aclFloatToFloat16 {float(number):g}"
    acl.float_to_float16(1e300)
    assert echo.last() == "aclFloatToFloat16 inf"
    for wrong in (None, "1.5", [1.5], 1j, 10**400):
        with raises(TypeError):
            acl.float_to_float16(wrong)


@isolated(echo=True)
def test_an_exception_of_index_passes_through():
    import acl

    class Broken:
        def __index__(self):
            raise ZeroDivisionError("mine")

    with raises(ZeroDivisionError, "mine"):
        acl.rt.free(Broken())
