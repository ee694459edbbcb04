"""The start-up file of the prefix, with packages that behave as torch and torch_npu do."""

import os
import subprocess

import pytest
from isolated import child_environment, run

# The keys that a torch built for GPUs registers.
OF_GPUS = (
    "backend release_lock_on_cudamalloc release_lock_on_hipmalloc throw_on_cudamalloc_oom "
    "pinned_use_cuda_host_register pinned_use_hip_host_register pinned_num_register_threads "
    "pinned_reserve_segment_size_mb graph_capture_record_stream_reuse per_process_memory_fraction "
    "pinned_free_catch_all"
).split()

# As in the library: registering a key twice ends the process. Some releases export the function that
# gives the set, others have it inline and export the set alone (INLINE).
LIBRARY = r"""
#include <cstdlib>
#include <string>
#include <unordered_set>

namespace c10::CachingAllocator {
#ifdef INLINE
#define FORM [[gnu::always_inline]] inline
#else
#define FORM
#endif
struct AcceleratorAllocatorConfig {
    static std::unordered_set<std::string> &getMutableKeys();
};
FORM std::unordered_set<std::string> &AcceleratorAllocatorConfig::getMutableKeys()
{
    static std::unordered_set<std::string> keys{"expandable_segments"};
    return keys;
}
}

extern "C" void register_key(const char *key)
{
    if (!c10::CachingAllocator::AcceleratorAllocatorConfig::getMutableKeys().insert(key).second)
        std::abort();
}

extern "C" int has_key(const char *key)
{
    return c10::CachingAllocator::AcceleratorAllocatorConfig::getMutableKeys().count(key) != 0;
}
"""

TORCH = """
import ctypes, os

class version:
    cuda = {cuda!r}

c10 = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib", "libc10.so"))
for key in {keys!r}:
    c10.register_key(key.encode())
"""

CLIENT = """
import torch
from . import _C
"""

CORE = """
import torch
for key in {keys!r}:
    torch.c10.register_key(key.encode())
assert torch.c10.has_key(b"expandable_segments")
"""


@pytest.fixture(scope="module", params=["function", "INLINE"])
def libc10(tmp_path_factory, request):
    """The library with the set of keys."""
    place = tmp_path_factory.mktemp("c10")
    source = place / "c10.cpp"
    source.write_text(LIBRARY)
    compiler = os.environ.get("CXX", "g++").split()
    library = place / "libc10.so"
    options = ["-std=c++17", "-O1", "-shared", "-fPIC", f"-D{request.param}"]
    subprocess.run([*compiler, *options, "-o", str(library), str(source)], check=True)
    names = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    assert ("14getMutableKeysB5cxx11Ev\n" in names.stdout) == (request.param == "function"), names.stdout
    return library


@pytest.fixture
def packages(tmp_path, libc10):
    """Makes the two packages, for a torch with or without the keys of GPUs."""

    def make(cuda):
        (tmp_path / "torch" / "lib").mkdir(parents=True)
        (tmp_path / "torch" / "lib" / "libc10.so").symlink_to(libc10)
        keys = OF_GPUS if cuda else []
        (tmp_path / "torch" / "__init__.py").write_text(TORCH.format(cuda=cuda, keys=keys))
        (tmp_path / "torch_npu").mkdir()
        (tmp_path / "torch_npu" / "__init__.py").write_text(CLIENT)
        (tmp_path / "torch_npu" / "_C.py").write_text(CORE.format(keys=OF_GPUS))
        return tmp_path

    return make


def run_with(place, program, **env):
    path = child_environment()["PYTHONPATH"] + os.pathsep + str(place)
    return run("-c", program, env={"PYTHONPATH": path, **env}, check=False)


IN_EITHER_ORDER = ["import torch, torch_npu", "import torch_npu, torch", "import torch_npu._C"]


@pytest.mark.parametrize("program", IN_EITHER_ORDER)
def test_both_register_their_keys(packages, program):
    done = run_with(packages("13.0"), f"{program}; print('lives')")
    assert done.stdout == "lives\n", done.stderr


def test_child_processes_too(packages):
    program = (
        "import multiprocessing as m\n"
        "def work(): import torch_npu, torch; assert torch.c10.has_key(b'backend')\n"
        "if __name__ == '__main__':\n"
        "    p = m.get_context('spawn').Process(target=work); p.start(); p.join(); print(p.exitcode)\n"
    )
    place = packages("13.0")
    (place / "program.py").write_text(program)
    path = child_environment()["PYTHONPATH"] + os.pathsep + str(place)
    assert run(str(place / "program.py"), env={"PYTHONPATH": path}).stdout == "0\n"


def test_switched_off_the_process_ends(packages):
    """The fault is real: this is what the start-up file prevents."""
    done = run_with(packages("13.0"), "import torch, torch_npu; print('lives')", CANNERY_PYTHON_HOOKS="off")
    assert done.returncode != 0 and "lives" not in done.stdout


def test_keys_stay_where_torch_npu_is_not_imported(packages):
    program = "import torch, sys; print(torch.c10.has_key(b'backend'), 'ctypes' in sys.modules)"
    done = run_with(packages("13.0"), program)
    assert done.stdout == "1 True\n", done.stderr


def test_a_torch_without_gpus_is_left_alone(packages):
    program = "import torch_npu, torch; print(torch.c10.has_key(b'backend'), torch.c10.has_key(b'~ackend'))"
    done = run_with(packages(None), program)
    assert done.stdout == "1 0\n", done.stderr


def test_a_set_that_nobody_has_made_yet_is_left_alone(packages):
    place = packages("13.0")
    (place / "torch" / "__init__.py").write_text(TORCH.format(cuda="13.0", keys=[]))
    done = run_with(place, "import torch, torch_npu; print('lives')")
    assert done.stdout == "lives\n", done.stderr


def test_nothing_is_imported_at_the_start():
    program = "import sys; print(sorted({'ctypes', 'torch', 'acl'} & set(sys.modules)))"
    assert run("-c", program).stdout == "[]\n"


@pytest.mark.parametrize("hooks", ["on", "off"])
def test_the_users_own_start_up_file_runs(tmp_path, hooks):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.mine = __file__\n")
    done = run_with(tmp_path, "print(mine)", CANNERY_PYTHON_HOOKS=hooks)
    assert done.stdout.strip() == str(tmp_path / "sitecustomize.py"), done.stderr
