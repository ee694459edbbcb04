"""The prefix somewhere else: copied, moved to a name with blanks, used by every way that build scripts know."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from isolated import PREFIX, ROOT, child_environment

TOOLS = Path(sys.executable).parent
CC = os.environ.get("CC", "cc").split()

PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "acl/acl.h"

int main(void)
{
    enum { SIZE = 1 << 20 };
    unsigned char *sent = malloc(SIZE), *received = malloc(SIZE);
    void *device = NULL;
    Dl_info where;

    for (int i = 0; i < SIZE; i++) sent[i] = (unsigned char)rand();
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST)) return 1;
    if (aclrtMemcpy(device, SIZE, sent, SIZE, ACL_MEMCPY_HOST_TO_DEVICE)) return 2;
    if (aclrtMemcpy(received, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST)) return 3;
    if (memcmp(sent, received, SIZE) != 0) return 4;
    if (!dladdr((void *)aclInit, &where)) return 5;
    puts(where.dli_fname);
    return aclrtFree(device) || aclrtResetDevice(0) || aclFinalize();
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(moved C)
find_package(AscendCL REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE AscendCL::ascendcl ${CMAKE_DL_LIBS})
enable_testing()
add_test(NAME alone COMMAND program)
"""


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """The prefix, copied and then moved. Where it was is gone."""
    place = tmp_path_factory.mktemp("moved")
    subprocess.run(["cp", "-a", str(PREFIX), str(place / "first")], check=True)
    last = place / "a name with blänks" / "cannery"
    last.parent.mkdir()
    (place / "first").rename(last)
    return last


@pytest.fixture
def source(tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    return tmp_path


def environment(**more):
    """Nothing of the first place, nothing of this Python."""
    clean = child_environment(more)
    del clean["PYTHONPATH"]
    return clean


def output_of(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_loaded(output, moved):
    """The program says which library it got."""
    assert os.path.realpath(output.strip()) == str(moved.resolve() / "lib64" / "libascendcl.so")


def test_the_tool_runs_programs(moved, source):
    flags = [f"-I{moved}/include", f"-L{moved}/lib64", "-lascendcl", "-ldl"]
    output_of([*CC, "-o", str(source / "program"), str(source / "program.c"), *flags])
    run = [str(moved / "bin" / "cannery"), "run", "--quiet", "--"]
    check_loaded(output_of([*run, str(source / "program")], env=environment()), moved)
    python = "import acl, cannery; print(acl.__libascendcl__)"
    check_loaded(output_of([*run, sys.executable, "-c", python], env=environment()), moved)


def test_a_shell_uses_it(moved, source):
    script = 'set -e; . "$1/set_env.sh"; cc program.c -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" '
    script += "-lascendcl -ldl -o program; ./program; cannery explain 107002 >/dev/null"
    output = output_of(["sh", "-c", script, "sh", str(moved)], env=environment(), cwd=source)
    check_loaded(output, moved)


def test_pkg_config_finds_it(moved, source):
    tool = shutil.which("pkg-config") or shutil.which("pkgconf")
    if tool is None:
        pytest.skip("this machine has no pkg-config")
    # The flags of a name with blanks are quoted for a shell.
    script = f'eval "cc program.c $({tool} --cflags --libs ascendcl) -ldl -o program"'
    path = str(moved / "lib" / "pkgconfig")
    output_of(["sh", "-ec", script], env=environment(PKG_CONFIG_PATH=path), cwd=source)
    run = [str(moved / "bin" / "cannery"), "run", "--quiet", "--", "./program"]
    check_loaded(output_of(run, env=environment(), cwd=source), moved)


def test_cmake_finds_it_and_ctest_runs_it(moved, source):
    cmake = TOOLS / "cmake" if (TOOLS / "cmake").exists() else shutil.which("cmake")
    if cmake is None:
        pytest.skip("this machine has no cmake: `pip install cmake` has one")
    build = source / "build"
    output_of([str(cmake), "-S", str(source), "-B", str(build), f"-DCMAKE_PREFIX_PATH={moved}"], env=environment())
    output_of([str(cmake), "--build", str(build)], env=environment())
    ctest = Path(cmake).parent / "ctest"
    output = output_of([str(ctest), "--test-dir", str(build), "--output-on-failure"], env=environment())
    assert "100% tests passed" in output
    check_loaded(output_of([str(build / "program")], env=environment()), moved)


def test_nothing_in_it_names_where_it_was(moved):
    names = [str(PREFIX).encode(), str(ROOT).encode()]
    for path in moved.rglob("*"):
        if path.is_symlink():
            assert not os.path.isabs(os.readlink(path)), path
        # Debugging information names sources; programs do not look there.
        elif path.is_file() and path.suffix not in (".so", ".pyc") and path.parent.name != "bin":
            assert not any(name in path.read_bytes() for name in names), path
