"""The platform in the name of a wheel."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import wheel_tag

MACHINE = platform.machine()


def library(place, name, source, *flags):
    path = place / name
    code = place / "code.c"
    code.write_text(source)
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", str(path), str(code), *flags], check=True)
    return path


def test_files_that_are_no_programs_need_nothing(tmp_path):
    text = tmp_path / "text.py"
    text.write_text("print()")
    assert wheel_tag.platform_tag([text]) == f"manylinux_2_17_{MACHINE}"


def test_the_newest_release_that_a_file_asks_for_counts(tmp_path):
    source = "#include <stdlib.h>\nint f(const char *t) { return (int)strtol(t, 0, 0); }\n"
    plain = library(tmp_path, "libplain.so", "int g(void) { return 0; }\n")
    asking = library(tmp_path, "libasking.so", source)
    asked = [tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)\0", asking.read_bytes())]
    newest = max([*asked, (2, 17)])
    assert wheel_tag.platform_tag([plain, asking]) == "manylinux_{}_{}_{}".format(*newest, MACHINE)


def test_a_library_that_not_every_system_has_is_told(tmp_path):
    other = library(tmp_path, "libother.so", "int g(void) { return 0; }\n", "-Wl,-soname,libother.so")
    source = "int g(void);\nint f(void) { return g(); }\n"
    asking = library(tmp_path, "libasking.so", source, f"-L{tmp_path}", "-lother")
    assert wheel_tag.platform_tag([asking]) == f"linux_{MACHINE}"
    assert re.fullmatch(rf"manylinux_2_\d+_{MACHINE}", wheel_tag.platform_tag([asking, other]))


def test_without_the_tool_nothing_is_claimed(tmp_path, monkeypatch):
    plain = library(tmp_path, "libplain.so", "int g(void) { return 0; }\n")

    def missing(*_arguments, **_options):
        raise FileNotFoundError

    monkeypatch.setattr(wheel_tag.subprocess, "run", missing)
    assert wheel_tag.platform_tag([plain]) == f"linux_{MACHINE}"


def test_a_broken_program_is_an_error_of_the_tool_or_claims_nothing(tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(wheel_tag.ELF)
    tag = wheel_tag.platform_tag([broken])
    assert tag in {f"linux_{MACHINE}", f"manylinux_2_17_{MACHINE}"}
    with pytest.raises(FileNotFoundError):
        wheel_tag.platform_tag([tmp_path / "nothing.so"])
