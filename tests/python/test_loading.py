"""Which libascendcl.so the module takes."""

import ctypes
import os
import shutil
import subprocess
import sys

from isolated import PREFIX, child_environment, echo_directory, isolated, run

WHERE = "import acl; print(acl.__libascendcl__)"
MODULE = PREFIX / "python" / "acl.abi3.so"


def located(module_directory, env=None):
    """Where a module in that directory finds the library, without any help from the environment."""
    environment = child_environment(env, module_directory=module_directory)
    done = subprocess.run([sys.executable, "-c", WHERE], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


def test_a_prefix_needs_no_environment():
    assert os.path.realpath(run("-c", WHERE).stdout.strip()) == os.path.realpath(PREFIX / "lib64/libascendcl.so")


def test_beside_the_prefix_layout(tmp_path):
    (tmp_path / "python").mkdir()
    (tmp_path / "lib64").mkdir()
    shutil.copy(MODULE, tmp_path / "python")
    shutil.copy(echo_directory() / "libascendcl.so", tmp_path / "lib64")
    assert os.path.realpath(located(tmp_path / "python")) == str(tmp_path / "lib64" / "libascendcl.so")


def test_through_a_link_to_the_module(tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "python").mkdir()
    (tmp_path / "lib64").mkdir()
    shutil.copy(MODULE, tmp_path / "python")
    shutil.copy(echo_directory() / "libascendcl.so", tmp_path / "lib64")
    (tmp_path / "links" / "acl.abi3.so").symlink_to("../python/acl.abi3.so")
    assert os.path.realpath(located(tmp_path / "links")) == str(tmp_path / "lib64" / "libascendcl.so")


def test_the_wheel_layout(tmp_path):
    libraries = tmp_path / "cannery_npu" / "lib64"
    libraries.mkdir(parents=True)
    shutil.copy(MODULE, tmp_path)
    shutil.copy(echo_directory() / "libascendcl.so", libraries)
    assert located(tmp_path) == str(libraries / "libascendcl.so")


def test_the_search_path_comes_before_the_module():
    done = run("-c", WHERE, echo=True)
    assert done.stdout.strip() == str(echo_directory() / "libascendcl.so")


@isolated
def test_a_loaded_library_comes_before_everything():
    place = str(echo_directory() / "libascendcl.so")
    ctypes.CDLL(place)
    import acl

    assert acl.__libascendcl__ == place
    assert acl.rt.malloc(5, 0) == (71, 0)


@isolated
def test_the_second_name_counts_as_loaded():
    """A process that has the runtime as libacl_rt.so must not get another one."""
    second = ctypes.CDLL(str(PREFIX / "lib64" / "libacl_rt.so"))
    assert second.aclInit(None) == 0
    import acl

    assert acl.init() == 100002


def test_without_a_library_the_error_tells_where_it_looked(tmp_path):
    place = tmp_path / "python"
    place.mkdir()
    shutil.copy(MODULE, place)
    text = located(place)
    assert "ImportError" in text and "libascendcl.so" in text and "LD_LIBRARY_PATH" in text
    assert f"{tmp_path}/lib64/libascendcl.so" in text
    assert f"{place}/cannery_npu/lib64/libascendcl.so" in text


def test_a_broken_library_is_named_with_the_reason(tmp_path):
    libraries = tmp_path / "cannery_npu" / "lib64"
    libraries.mkdir(parents=True)
    shutil.copy(MODULE, tmp_path)
    (libraries / "libascendcl.so").write_text("no library")
    text = located(tmp_path)
    assert "ImportError" in text and f"{libraries}/libascendcl.so" in text and "too short" in text


def test_the_media_libraries_may_be_missing(tmp_path):
    """Then their functions are not supported, and everything else works."""
    libraries = tmp_path / "cannery_npu" / "lib64"
    libraries.mkdir(parents=True)
    shutil.copy(MODULE, tmp_path)
    source = tmp_path / "small.c"
    source.write_text("int aclInit(const char *path) { return path != 0; }\n")
    shared = ["-shared", "-fPIC", "-Wl,-soname,libascendcl.so", "-o", str(libraries / "libascendcl.so")]
    subprocess.run([*os.environ.get("CC", "cc").split(), *shared, str(source)], check=True)
    program = """
import acl
print(acl.init(), acl.media.dvpp_malloc(5), acl.media.dvpp_free(1), acl.himpi.dvpp_malloc(0, 5), acl.himpi.dvpp_free(1))
print(acl.rt.malloc(5, 0), acl.get_soc_name(), acl.get_data_buffer_size_v2(1), acl.app_log(1, "text"))
"""
    environment = child_environment(module_directory=tmp_path)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "0 (0, 207000) 207000 (0, 207000) 207000"
    assert second == "(0, 207000) None 0 None"
