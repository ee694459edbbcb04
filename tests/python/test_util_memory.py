"""acl.util: bytes and NumPy arrays against addresses."""

import ctypes
import sys
import warnings

import numpy
from isolated import isolated, raises

PAYLOAD = bytes(range(256)) * 8


@isolated(echo=True)
def test_bytes_to_ptr_is_the_payload_itself():
    import acl

    pointer = acl.util.bytes_to_ptr(PAYLOAD)
    assert type(pointer) is int
    assert ctypes.string_at(pointer, len(PAYLOAD)) == PAYLOAD
    assert acl.util.bytes_to_ptr(PAYLOAD) == pointer
    ctypes.memmove(pointer, b"changed", 7)
    assert PAYLOAD[:8] == b"changed\x07"
    assert acl.util.bytes_to_ptr(b"") != 0


@isolated(echo=True)
def test_bytes_to_ptr_keeps_no_reference():
    import acl

    data = bytes(1000)
    before = sys.getrefcount(data)
    for _ in range(100):
        acl.util.bytes_to_ptr(data)
    assert sys.getrefcount(data) == before


@isolated(echo=True)
def test_bytes_to_ptr_takes_bytes_only():
    import acl

    for wrong in (bytearray(8), memoryview(bytes(8)), numpy.zeros(8), "text", None, 8, [1]):
        with raises(ValueError):
            acl.util.bytes_to_ptr(wrong)


@isolated(echo=True)
def test_ptr_to_bytes_copies():
    import acl

    for size in (1, 16, 4096, 1 << 20):
        memory = (ctypes.c_char * size)()
        ctypes.memset(memory, 0x5A, size)
        copy = acl.util.ptr_to_bytes(ctypes.addressof(memory), size)
        assert type(copy) is bytes
        ctypes.memset(memory, 0, size)
        assert copy == b"\x5a" * size
    assert not numpy.frombuffer(copy, numpy.uint8).flags.writeable
    assert acl.util.ptr_to_bytes(numpy.int64(ctypes.addressof(memory)), numpy.int32(3)) == bytes(3)


@isolated(echo=True)
def test_ptr_to_bytes_of_nothing():
    import acl

    assert acl.util.ptr_to_bytes(0, 0) == b""
    assert acl.util.ptr_to_bytes(12345, 0) == b""
    with raises(ValueError):
        acl.util.ptr_to_bytes(0, 1)
    with raises(ValueError):
        acl.util.ptr_to_bytes(4096, -1)
    with raises(MemoryError):
        acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(PAYLOAD), 2**62)  # the echo vouches for any address
    with raises(TypeError):
        acl.util.ptr_to_bytes(None, 1)


def warned(call):
    """The result of a call and the warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    assert all(warning.category is Warning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return result, len(caught)


@isolated(echo=True)
def test_numpy_to_ptr():
    import acl

    array = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    address = array.ctypes.data
    assert warned(lambda: acl.util.numpy_to_ptr(array)) == (address, 1)
    assert warned(lambda: acl.util.numpy_to_ptr(array)) == (address, 1)  # on every call
    assert warned(lambda: acl.util.numpy_to_ptr(array.T)) == (address, 2)
    assert warned(lambda: acl.util.numpy_to_ptr(array[:, 1:])) == (address + 4, 2)
    assert warned(lambda: acl.util.numpy_to_ptr(numpy.array(3.0)))[1] == 1

    class Sub(numpy.ndarray):
        pass

    assert warned(lambda: acl.util.numpy_to_ptr(array.view(Sub))) == (address, 1)
    for wrong in (b"bytes", [1, 2], None, 5, numpy.float32(1)):
        with raises(ValueError):
            acl.util.numpy_to_ptr(wrong)


@isolated(echo=True)
def test_numpy_contiguous_to_ptr_returns_the_array_and_no_code():
    import acl

    array = numpy.arange(12, dtype=numpy.int16).reshape(3, 4)
    (pointer, same), count = warned(lambda: acl.util.numpy_contiguous_to_ptr(array))
    assert (pointer, count) == (array.ctypes.data, 1)
    assert same is array
    (pointer, copy), count = warned(lambda: acl.util.numpy_contiguous_to_ptr(array.T))
    assert (pointer, count) == (copy.ctypes.data, 1)
    assert copy.flags.c_contiguous and (copy == array.T).all()
    assert ctypes.string_at(pointer, copy.nbytes) == copy.tobytes() != array.tobytes()
    scalar = numpy.array(7)
    assert warned(lambda: acl.util.numpy_contiguous_to_ptr(scalar))[0][1] is scalar
    with raises(ValueError):
        acl.util.numpy_contiguous_to_ptr(b"bytes")


@isolated(echo=True)
def test_ptr_to_numpy_is_a_writable_view():
    import acl

    memory = (ctypes.c_uint8 * 64)(*range(64))
    address = ctypes.addressof(memory)
    array, count = warned(lambda: acl.util.ptr_to_numpy(address, (4, 16), 2))
    assert count == 1
    assert type(array) is numpy.ndarray
    assert (array.shape, array.dtype, array.ctypes.data) == ((4, 16), numpy.uint8, address)
    assert array.flags.writeable and array.flags.c_contiguous and not array.flags.owndata
    assert array.tolist() == numpy.arange(64).reshape(4, 16).tolist()
    array[0, 0] = 99
    memory[1] = 98
    assert (memory[0], array[0, 1]) == (99, 98)


@isolated(echo=True)
def test_ptr_to_numpy_knows_the_numbers_of_numpy():
    import acl

    warnings.simplefilter("ignore")
    numbers = [*range(17), 23]
    memory = ctypes.create_string_buffer(64)
    for number in numbers:
        array = acl.util.ptr_to_numpy(ctypes.addressof(memory), (2,), number)
        assert array.dtype.num == number, (number, array.dtype)
    for wrong in (17, 18, 20, 21, 22, 24, -1, 256):
        with raises(ValueError):
            acl.util.ptr_to_numpy(ctypes.addressof(memory), (1,), wrong)


@isolated(echo=True)
def test_shapes():
    import acl

    warnings.simplefilter("ignore")
    memory = ctypes.create_string_buffer(64)
    address = ctypes.addressof(memory)
    assert acl.util.ptr_to_numpy(address, (), 2).shape == ()
    assert acl.util.ptr_to_numpy(address, (2, 0, 3), 2).shape == (2, 0, 3)
    assert acl.util.ptr_to_numpy(0, (0,), 11).dtype == numpy.float32
    assert acl.util.ptr_to_numpy(address, (numpy.int64(2), 2), 2).shape == (2, 2)
    for wrong in ([2, 2], 4, None, numpy.zeros(2)):
        with raises(ValueError):
            acl.util.ptr_to_numpy(address, wrong, 2)
    for wrong in ((2.0,), (None,), ("2",)):
        with raises(TypeError):
            acl.util.ptr_to_numpy(address, wrong, 2)
    with raises(ValueError):
        acl.util.ptr_to_numpy(address, (-1,), 2)
    with raises(ValueError):
        acl.util.ptr_to_numpy(address, (2**40, 2**40), 2)
    with raises(ValueError):
        acl.util.ptr_to_numpy(0, (1,), 2)


@isolated(echo=True)
def test_a_view_does_not_keep_its_memory_or_anything_else():
    import acl

    warnings.simplefilter("ignore")
    memory = ctypes.create_string_buffer(64)
    before = sys.getrefcount(memory)
    arrays = [acl.util.ptr_to_numpy(ctypes.addressof(memory), (64,), 2) for _ in range(50)]
    assert sys.getrefcount(memory) == before
    assert len({array.ctypes.data for array in arrays}) == 1


@isolated(echo=True)
def test_warnings_can_be_errors():
    import acl

    warnings.simplefilter("error")
    with raises(Warning):
        acl.util.numpy_to_ptr(numpy.zeros(1))


@isolated(echo=True)
def test_without_numpy_nothing_is_an_array():
    import acl

    for name in [name for name in sys.modules if name.partition(".")[0] == "numpy"]:
        del sys.modules[name]
    with raises(ValueError):
        acl.util.numpy_to_ptr(b"bytes")
    assert "numpy" not in sys.modules
