"""The wheel: what is in it, and that it works on its own."""

import base64
import csv
import email
import hashlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from isolated import ROOT, child_environment, scratch

PROGRAM = """
import os, acl, cannery_npu
prefix = cannery_npu.prefix()
assert acl.__libascendcl__ == os.path.join(prefix, "lib64", "libascendcl.so"), acl.__libascendcl__
assert acl.__version__ == cannery_npu.__version__
assert acl.init() == 0 and acl.rt.set_device(0) == 0
pointer, ret = acl.rt.malloc_cached(1 << 20, 0)
assert ret == 0 and acl.rt.free(pointer) == 0
pointer, ret = acl.media.dvpp_malloc(100)
assert ret == 0 and acl.media.dvpp_free(pointer) == 0
pointer, ret = acl.himpi.dvpp_malloc(0, 100)
assert ret == 0 and acl.himpi.dvpp_free(pointer) == 0
assert os.path.isfile(os.path.join(prefix, "include", "acl", "acl.h"))
print(prefix)
"""

# A program of another maker that wants the runtime by its second name.
BY_SECOND_NAME = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    int (*init)(const char *), (*again)(const char *);
    void *second = dlopen("libacl_rt.so", RTLD_NOW), *first = dlopen("libascendcl.so", RTLD_NOW);
    if (!second || !first) { puts(dlerror()); return 1; }
    *(void **)&init = dlsym(second, "aclInit");
    *(void **)&again = dlsym(first, "aclInit");
    int code = init(0);
    printf("%d %d\n", code, again(0)); /* one runtime: the second call only counts */
    return 0;
}
"""


def environment():
    """Nothing that could lead to the build tree."""
    clean = child_environment()
    del clean["PYTHONPATH"]
    return clean


@pytest.fixture(scope="session")
def wheel():
    """The wheel that `pip install .` builds, built without a network."""
    place = scratch() / "wheel"
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--wheel-dir", str(place), str(ROOT)]
    environ = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = place.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel):
    """A virtual environment with nothing but the wheel."""
    place = scratch() / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, str(wheel)], check=True)
    return place


def test_the_name_tells_what_it_runs_on(wheel):
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("cannery_npu", "cp39", "abi3")
    # Any system with the C library of the newest release that a file of the wheel asks for.
    with zipfile.ZipFile(wheel) as archive:
        files = [archive.read(name) for name in archive.namelist() if name.endswith(".so") or "/bin/" in name]
    asked = {tuple(map(int, found)) for file in files for found in re.findall(rb"GLIBC_(\d+)\.(\d+)\0", file)}
    assert platform == "manylinux_{}_{}_{}".format(*max(asked), os.uname().machine)
    assert version in (ROOT / "Cargo.toml").read_text()


def test_the_content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
        texts = {name: archive.read(name) for name in names}
    for needed in (
        "acl.abi3.so",
        "acl-stubs/__init__.pyi",
        "acl-stubs/rt.pyi",
        "cannery/__init__.py",
        "cannery/buffers.py",
        "cannery/py.typed",
        "cannery/pytest_plugin.py",
        "cannery_npu/__init__.py",
        "cannery_npu/bin/cannery",
        "cannery_npu/include/acl/acl.h",
        "cannery_npu/lib64/libascendcl.so",
        "cannery_npu/lib64/libacl_rt.so",
        "cannery_npu/lib64/libacl_dvpp.so",
        "cannery_npu/lib64/libacl_dvpp_mpi.so",
        "cannery_npu/compiler/NO_OPERATORS.txt",
        "cannery_npu/opp/lib64/libopapi.so",
        "cannery_npu/python/acl.abi3.so",
        "cannery_npu/python/cannery/__init__.py",
        "cannery_npu/python/sitecustomize.py",
        "cannery_npu/runtime/version.info",
        "cannery_npu/set_env.sh",
        "cannery_npu/share/cannery/manifest",
    ):
        assert needed in names, needed
    assert {name.partition("/")[0] for name in names} == {
        "acl.abi3.so",
        "acl-stubs",
        "cannery",
        "cannery_npu",
        next(name for name in names if ".dist-info/" in name).partition("/")[0],
    }
    assert modes["cannery_npu/bin/cannery"] & 0o111 == 0o111
    assert not any(mode & 0o170000 == 0o120000 for mode in modes.values())  # no links
    # One runtime: the second name is a small forwarder, not a copy.
    assert len(texts["cannery_npu/lib64/libacl_rt.so"]) < len(texts["cannery_npu/lib64/libascendcl.so"]) / 4
    files = [name.partition("/")[2] for name in names if name.startswith("cannery_npu/")]
    manifest = texts["cannery_npu/share/cannery/manifest"].decode().split()
    assert set(manifest) == {name for name in files if name not in ("__init__.py", "__main__.py")}
    assert not any(str(ROOT).encode() in text for text in texts.values())


def test_the_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (directory,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = email.message_from_bytes(archive.read(f"{directory}/METADATA"))
        scripts = archive.read(f"{directory}/entry_points.txt").decode()
        licences = metadata.get_all("License-File")
        assert all(f"{directory}/licenses/{name}" in archive.namelist() for name in licences)
    assert metadata["Name"] == "cannery-npu"
    assert metadata["Version"] == wheel.stem.split("-")[1]
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert len(licences) == 2
    assert scripts == (
        "[console_scripts]\ncannery = cannery_npu.__main__:main\n\n[pytest11]\ncannery = cannery.pytest_plugin\n"
    )


def test_the_record_is_true(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        assert {row[0] for row in rows} == set(archive.namelist())
        for name, digest, size in rows:
            if name == record:
                assert (digest, size) == ("", "")
                continue
            data = archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={expected}", str(len(data))), name


def test_import_works_without_any_environment(installed):
    python = str(installed / "bin" / "python")
    done = subprocess.run([python, "-c", PROGRAM], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(installed))


def test_it_is_small(wheel):
    assert wheel.stat().st_size <= 5 << 20, wheel.stat().st_size


def test_the_package_is_in_it_and_is_quick_to_import(installed):
    """Processor time of the import, compiled as an installer leaves it; the best of some runs."""
    program = """
import time
begun = time.thread_time_ns()
import cannery
took = time.thread_time_ns() - begun
with cannery.session(), cannery.DeviceBuffer.of(b"bytes") as buffer:
    assert buffer.tobytes() == b"bytes"
assert cannery.__version__ == __import__("acl").__version__
print(took)
"""
    command = [str(installed / "bin" / "python"), "-c", program]
    runs = [subprocess.run(command, env=environment(), capture_output=True, text=True, check=True) for _ in range(7)]
    assert min(int(run.stdout) for run in runs) <= 20_000_000, [run.stdout for run in runs]


def test_the_plugin_runs_tests_with_nothing_but_the_wheel(installed, tmp_path):
    tests = tmp_path / "test_user.py"
    tests.write_text(
        "import cannery\n"
        "def test_devices(npu):\n"
        "    assert cannery.device_count() == 2\n"
        "def test_round_trip(npu):\n"
        "    sent = bytes(range(256)) * 4096\n"
        "    with cannery.DeviceBuffer.of(sent) as buffer:\n"
        "        assert buffer.tobytes() == sent\n"
        "def test_leak(npu):\n"
        "    import acl\n"
        "    assert acl.rt.malloc(1 << 20, 0)[1] == 0\n"
    )
    # pytest and what it needs, by a directory of links, so that nothing else of this environment is seen.
    place = tmp_path / "pytest"
    place.mkdir()
    for name in ("_pytest", "pytest", "py", "pluggy", "iniconfig", "packaging", "pygments"):
        found = importlib.util.find_spec(name)
        path = Path(found.origin) if found.submodule_search_locations is None else Path(found.origin).parent
        (place / path.name).symlink_to(path)
    options = ["-p", "no:cacheprovider", "--cannery-profile", "910B", "--cannery-devices", "2", str(tests)]
    command = [str(installed / "bin" / "python"), "-m", "pytest", "-q", *options]
    env = {**environment(), "PYTHONPATH": str(place)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"1 (failed|error)", done.stdout) and re.search(r"[23] passed", done.stdout), done.stdout
    assert "aclrtMalloc" in done.stdout and "test_leak" in done.stdout, done.stdout


def test_pytest_finds_the_plugin(installed):
    program = """
import importlib.metadata
entries = importlib.metadata.distribution("cannery-npu").entry_points
print([entry.value for entry in entries if entry.group == "pytest11"])
"""
    command = [str(installed / "bin" / "python"), "-c", program]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "['cannery.pytest_plugin']\n"


def test_the_tool_works_and_runs_python_programs(installed):
    tool = str(installed / "bin" / "cannery")
    program = "import acl, sys; acl.init(); print(acl.rt.get_device_count()); sys.exit(7)"
    command = [tool, "run", "--devices", "3", "--", str(installed / "bin" / "python"), "-c", program]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("(3, 0)\n", 7), done.stderr


def test_the_tool_installs_a_prefix_elsewhere(installed, tmp_path):
    tool, target = str(installed / "bin" / "cannery"), tmp_path / "toolkit"
    subprocess.run([tool, "install", str(target)], env=environment(), check=True, capture_output=True)
    program = "import acl; print(acl.__libascendcl__); assert acl.init() == 0"
    env = {**environment(), "PYTHONPATH": str(target / "python")}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(target / "lib64" / "libascendcl.so")


def test_the_second_name_is_the_same_runtime(installed, tmp_path):
    (libraries,) = installed.glob("lib/python*/site-packages/cannery_npu/lib64")
    source, program = tmp_path / "second.c", tmp_path / "second"
    source.write_text(BY_SECOND_NAME)
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-o", str(program), str(source), "-ldl"], check=True)
    env = {**environment(), "LD_LIBRARY_PATH": str(libraries)}
    done = subprocess.run([str(program)], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "0 100002\n"


def test_a_c_program_links_against_the_wheel(installed, tmp_path):
    (prefix,) = installed.glob("lib/python*/site-packages/cannery_npu")
    source = tmp_path / "program.c"
    source.write_text("#include <acl/acl.h>\nint main(void) { return aclInit(0) != 0; }\n")
    for library in ("ascendcl", "acl_rt"):
        program = tmp_path / library
        flags = [f"-I{prefix}/include", f"-L{prefix}/lib64", f"-l{library}", f"-Wl,-rpath,{prefix}/lib64"]
        subprocess.run([*os.environ.get("CC", "cc").split(), "-o", str(program), str(source), *flags], check=True)
        assert subprocess.run([str(program)], env=environment(), check=False).returncode == 0


def test_a_source_distribution_can_be_made(tmp_path):
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import build_backend as backend; "
    program += f"print(backend.build_sdist({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (path,) = tmp_path.glob("*.tar.gz")
    assert path.name == done.stdout.strip()
    listing = subprocess.run(["tar", "tzf", str(path)], capture_output=True, text=True, check=True).stdout.split()
    root = path.name[: -len(".tar.gz")]
    for needed in ("pyproject.toml", "PKG-INFO", "Cargo.lock", "crates/python/src/lib.rs", "tools/build_backend.py"):
        assert f"{root}/{needed}" in listing
    assert not any(f"{root}/target/" in name or ".venv" in name for name in listing)
