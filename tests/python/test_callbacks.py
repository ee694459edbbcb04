"""Python callables that C calls, with a library that calls them at once."""

import ctypes
import gc
import sys
import weakref

from echo_library import Echo
from isolated import isolated, raises, run


@isolated(echo=True)
def test_launch_callback_passes_the_list_as_one_argument():
    import acl

    echo, got, data = Echo(), [], [1, "two"]
    assert acl.rt.launch_callback(lambda *arguments: got.append(arguments), data, 1, 77) == 0
    assert got == [(data,)]
    assert got[0][0] is data
    assert echo.last() == "aclrtLaunchCallback 1 77"


@isolated(echo=True)
def test_launch_callback_gives_its_references_back():
    import acl

    echo = Echo()

    class Function:
        def __call__(self, _):
            pass

    for code in (0, 507000):  # accepted, and refused
        echo.code(code)
        function, data = Function(), [object()]
        before = sys.getrefcount(function), sys.getrefcount(data)
        for _ in range(10):
            assert acl.rt.launch_callback(function, data, 0, 0) == code
        assert (sys.getrefcount(function), sys.getrefcount(data)) == before
        gone = weakref.ref(function)
        del function
        gc.collect()
        assert gone() is None


@isolated(echo=True)
def test_a_refused_callback_does_not_run():
    import acl

    got = []
    Echo().code(107015)
    assert acl.rt.launch_callback(got.append, [1], 0, 0) == 107015
    assert got == []


def test_what_a_callback_raises_is_reported_and_dropped():
    program = """
import acl
def body(data):
    raise ArithmeticError("inside the callback")
print(acl.rt.launch_callback(body, [], 0, 0))
"""
    done = run("-c", program, echo=True)
    assert done.stdout == "0\n"
    assert "inside the callback" in done.stderr


@isolated(echo=True)
def test_what_cannot_be_called_is_a_type_error():
    import acl

    for wrong in (None, 5, "name", []):
        with raises(TypeError):
            acl.rt.launch_callback(wrong, [], 0, 0)
        with raises(TypeError):
            acl.rt.allocator_set_alloc_func_to_desc(1, wrong)
    for wrong in (5, "name", []):
        with raises(TypeError):
            acl.rt.set_exception_info_callback(wrong)


def passed(echo):
    """The function pointer of the last call."""
    return int(echo.last().split()[-1])


@isolated(echo=True)
def test_exception_callback():
    import acl

    echo, got = Echo(), []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    assert acl.rt.set_exception_info_callback(got.append) == 0
    trampoline = kind(passed(echo))
    trampoline(4711)
    assert got == [4711]
    # The last one wins.
    other = []
    assert acl.rt.set_exception_info_callback(other.append) == 0
    trampoline(1)
    assert (got, other) == ([4711], [1])
    # A refused one changes nothing.
    echo.code(1)
    assert acl.rt.set_exception_info_callback(got.append) == 1
    trampoline(2)
    assert other == [1, 2]
    echo.code(0)
    for clear in ((), (None,)):
        assert acl.rt.set_exception_info_callback(other.append) == 0
        assert passed(echo) != 0
        assert acl.rt.set_exception_info_callback(*clear) == 0
        assert passed(echo) == 0
        trampoline(3)
        assert other == [1, 2]


@isolated(echo=True)
def test_exception_facts():
    import acl

    names = ["error_code", "task_id", "stream_id", "thread_id", "device_id"]
    for name in names:
        getter = getattr(acl.rt, f"get_{name}_from_exception_info")
        assert getter(11) == 5
        assert getter(0) == 2**32 - 1
    echo = Echo()
    echo.code(-1)
    assert acl.rt.get_error_code_from_exception_info(11) == 2**32 - 1


@isolated(echo=True)
def test_allocator_functions_serve():
    import acl

    echo, log = Echo(), []
    word = ctypes.c_void_p

    def noted(answer):
        def function(*arguments):
            log.append(arguments)
            return answer

        return function

    assert acl.rt.allocator_set_alloc_func_to_desc(11, noted(100)) == 0
    assert echo.last().startswith("aclrtAllocatorSetAllocFuncToDesc 11 ")
    alloc = ctypes.CFUNCTYPE(word, word, ctypes.c_size_t)(passed(echo))
    assert acl.rt.allocator_set_free_func_to_desc(11, noted(None)) == 0
    free = ctypes.CFUNCTYPE(None, word, word)(passed(echo))
    assert acl.rt.allocator_set_alloc_advise_func_to_desc(11, noted(200)) == 0
    advise = ctypes.CFUNCTYPE(word, word, ctypes.c_size_t, word)(passed(echo))
    assert acl.rt.allocator_set_get_addr_from_block_func_to_desc(11, noted(300)) == 0
    get_addr = ctypes.CFUNCTYPE(word, word)(passed(echo))

    assert alloc(1, 2) == 100
    free(3, 4)
    assert advise(5, 6, 7) == 200
    assert get_addr(8) == 300
    assert log == [(1, 2), (3, 4), (5, 6, 7), (8,)]
    # What is no number is no block.
    for answer in (None, "block", 1.5):
        acl.rt.allocator_set_alloc_func_to_desc(11, noted(answer))
        assert alloc(1, 2) is None


@isolated(echo=True)
def test_callbacks_may_come_from_threads_python_does_not_know():
    import acl

    echo, got = Echo(), []
    acl.rt.set_exception_info_callback(got.append)
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(passed(echo)), ctypes.c_void_p(4711))
    libc.pthread_join(thread, None)
    assert got == [4711]


def test_a_callback_after_the_end_of_python_is_not_run():
    """The library may call while the process exits; there is no interpreter then."""
    program = """
import acl, atexit, ctypes
from echo_library import Echo
atexit.register(lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(pointer)(1))  # runs after the module's own
echo = Echo()
acl.rt.set_exception_info_callback(print)
pointer = int(echo.last().split()[-1])
ctypes.CFUNCTYPE(None, ctypes.c_void_p)(pointer)(5)
"""
    early = program.replace("import acl, atexit, ctypes", "import atexit, ctypes")
    early = early.replace("echo = Echo()", "import acl\necho = Echo()")
    assert run("-c", early, echo=True).stdout == "5\n"
