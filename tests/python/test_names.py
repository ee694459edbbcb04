"""Names, signatures and modules."""

import inspect
import re
import subprocess
import sys

from contract import ANY_NUMBER, BY_NAME, FEWEST, ROWS, arguments, find
from isolated import PREFIX, ROOT, child_environment, isolated, raises, run

UTIL = {
    "bytes_to_ptr",
    "numpy_contiguous_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
}
SUBMODULES = {"rt", "util", "media", "mdl", "op", "blas", "prof", "himpi", "fv"}


def public(module):
    return {name for name in dir(module) if not name.startswith("_")}


@isolated
def test_dir_lists_exactly_the_contract():
    import acl

    expected = {}
    for name in BY_NAME:
        module, _, function = name.rpartition(".")
        expected.setdefault(module, set()).add(function)
    assert len(ROWS) == 249
    assert public(acl) == expected["acl"] | SUBMODULES
    for module in SUBMODULES:
        assert public(getattr(acl, module)) == expected.get(f"acl.{module}", set()), module


@isolated
def test_util_is_exactly_seven_functions():
    import acl

    assert public(acl.util) == UTIL
    assert "bytes_to_ptr" in dir(acl.util)


@isolated
def test_submodules_can_be_imported_by_name():
    import acl
    import acl.mdl
    import acl.rt as runtime
    from acl.rt import malloc, memcpy
    from acl.util import bytes_to_ptr

    assert runtime is acl.rt is sys.modules["acl.rt"]
    assert malloc is acl.rt.malloc
    assert memcpy is acl.rt.memcpy
    assert bytes_to_ptr is acl.util.bytes_to_ptr
    for name in SUBMODULES:
        assert sys.modules[f"acl.{name}"] is getattr(acl, name)
        assert getattr(acl, name).__name__ == f"acl.{name}"


@isolated
def test_a_submodule_can_be_the_first_import():
    from acl.rt import malloc_cached

    assert malloc_cached.__module__ == "acl.rt"


@isolated
def test_import_needs_neither_numpy_nor_much_else():
    before = set(sys.modules)
    import acl  # noqa: F401

    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert loaded <= {"acl", "atexit"}, loaded


@isolated
def test_every_function_has_its_parameters_and_documentation():
    for name, row in BY_NAME.items():
        function = find(name)
        assert function.__doc__, name
        parameters = inspect.signature(function).parameters.values()
        snake = [re.sub("([A-Z])", r"_\1", arg["name"]).lower() for arg in row["args"]]
        assert [parameter.name for parameter in parameters] == snake, name
        assert all(parameter.kind is parameter.POSITIONAL_ONLY for parameter in parameters), name
        required = sum(parameter.default is parameter.empty for parameter in parameters)
        assert required == FEWEST.get(name, len(snake)), name


@isolated(echo=True)
def test_a_wrong_number_of_arguments_is_a_type_error():
    for name, row in BY_NAME.items():
        function, given = find(name), arguments(row)
        if name == ANY_NUMBER:
            assert function(1, 2, 3) == function()
            continue
        with raises(TypeError):
            function(*given, 0)
        if len(given) > FEWEST.get(name, len(given)) - 1 >= 0:
            with raises(TypeError):
                function(*given[: FEWEST.get(name, len(given)) - 1])


@isolated(echo=True)
def test_keywords_are_refused():
    for name, row in BY_NAME.items():
        if not row["args"]:
            continue
        given = arguments(row)
        with raises(TypeError):
            find(name)(*given[:-1], **{row["args"][-1]["name"]: given[-1]})


def test_the_stubs_are_current():
    run(str(ROOT / "crates" / "python" / "gen_stubs.py"), "--check")


def test_the_stubs_type_check(tmp_path):
    """A program that uses the module correctly passes mypy, and a wrong one does not."""
    good = tmp_path / "good.py"
    good.write_text(
        "import acl\n"
        "from acl.rt import malloc\n"
        "import numpy as np\n"
        "ptr, ret = malloc(np.int64(64), 0)\n"
        "code: int = acl.rt.memcpy(ptr, 64, acl.util.bytes_to_ptr(bytes(64)), 64, 1)\n"
        "text: 'str | None' = acl.get_recent_err_msg()\n"
        "free, total, ret = acl.rt.get_mem_info(1)\n"
        "acl.init()\n"
        "acl.init('acl.json')\n"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import acl\n"
        "ptr: int = acl.rt.malloc(64, 0)\n"
        "acl.rt.malloc(size=64, policy=0)\n"
        "acl.rt.synchronize_stream(None)\n"
        "acl.util.bytes_to_ptr(bytearray(8))\n"
        "acl.rt.malloc(64.0, 0)\n"
        "acl.util.get_ptr(1)\n"
    )
    environment = child_environment({"MYPYPATH": str(PREFIX / "python")})
    mypy = [sys.executable, "-m", "mypy", "--strict", "--strict-bytes", "--no-incremental", "--config-file="]

    done = subprocess.run([*mypy, str(good), str(wrong)], env=environment, capture_output=True, text=True, check=False)
    lines = re.findall(r"(\w+)\.py:(\d+): error", done.stdout)
    assert set(lines) == {("wrong", str(line)) for line in range(2, 8)}, done.stdout
