#!/usr/bin/env python3
"""Runs the code blocks of the documentation, so that what it shows is true.

A fenced block is tested when an HTML comment stands right above it:

* ``<!-- test -->`` above a ``c``, ``python`` or ``sh`` block: it is compiled and run on the emulated
  NPU and must end with 0. When its first line is a comment that names a file (``/* hello.c */``,
  ``# hello.py``), the block is also written to that file for the ``sh`` blocks of the same page,
  which run in a directory of their own with ``target/prefix`` in it.
* ``<!-- test: needs cmake -->``: the same where that command exists; elsewhere it is left out, and
  said so. ``<!-- test: with --devices 2 -->``: the program runs with these options of `cannery run`.
* ``<!-- file -->``: the block is only written to the file that its first line names.
* ``<!-- output: COMMAND -->``: the command's output must contain the lines of the block, in their
  order. A line ``...`` stands for any lines; without one, they follow each other.

Besides: both READMEs hold the same blocks, relative links lead somewhere, the settings page lists
every setting, and every test that a page names exists. Ends with `N passed, N failed`. Needs only
the standard library, a C compiler, and the prefix (CANNERY_PREFIX, else target/prefix).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import blocks
import facts
import links

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix")).resolve()
CC = os.environ.get("CC", "cc").split()
C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
READMES = ("README.md", "README.zh-CN.md")
LIMIT = 120


class Report:
    """Counts, and prints a line for each thing that was looked at."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, name, problem):
        """`problem` is empty when all is well."""
        print(f"{'FAILED' if problem else 'ok    '} {name}", flush=True)
        if problem:
            print("    " + problem.strip().replace("\n", "\n    "), flush=True)
            self.failed += 1
        else:
            self.passed += 1


def execute(command, where, **more):
    """Runs a command; its output and what is wrong with it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CANNERY_")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["CANNERY_PREFIX"] = str(PREFIX)
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
            check=False,
            **more,
        )
    except subprocess.TimeoutExpired:
        return "", f"did not end within {LIMIT} s"
    problem = f"exit code {done.returncode}\n{done.stdout}" if done.returncode else ""
    return done.stdout, problem


def on_npu(block, command):
    """The command, on the emulated NPU that the block asks for."""
    return [str(PREFIX / "bin" / "cannery"), "run", "--quiet", *block.options(), "--", *command]


def run_c(block, where):
    """Compiles and runs a program."""
    source = where / "block.c"
    source.write_text(block.body, encoding="utf-8")
    link = [f"-I{PREFIX / 'include'}", f"-L{PREFIX / 'lib64'}", "-lascendcl"]
    _, problem = execute([*CC, *C_FLAGS, str(source), "-o", str(where / "block"), *link], where)
    return problem or execute(on_npu(block, [str(where / "block")]), where)[1]


def run_python(block, where):
    """Runs a program."""
    source = where / "block.py"
    source.write_text(block.body, encoding="utf-8")
    return execute(on_npu(block, [sys.executable, str(source)]), where)[1]


def run_sh(block, where):
    """Runs commands as a user would type them in the checkout."""
    return execute(["bash", "-eu", "-o", "pipefail", "-c", block.body], where)[1]


RUNNERS = {"c": run_c, "python": run_python, "sh": run_sh}


def scratch(page, folder):
    """A directory with the prefix and the named files of a page."""
    where = Path(folder)
    (where / "target").mkdir()
    (where / "target" / "prefix").symlink_to(PREFIX)
    for block in page:
        if block.kind in ("test", "file") and block.file_name:
            (where / block.file_name).write_text(block.body, encoding="utf-8")
    return where


def check_page(path, report):
    """Tests every marked block of a page."""
    page = blocks.read(path)
    name = path.relative_to(ROOT)
    for block in page:
        title = f"{name}:{block.line} {block.language or 'output'}"
        if block.command:
            output, problem = execute(["bash", "-c", block.command], ROOT)
            report(title, problem or blocks.difference(block.body, output))
        elif block.test:
            if block.missing_tool():
                print(f"left out {title}: there is no {block.missing_tool()} here")
                continue
            runner = RUNNERS.get(block.language)
            with tempfile.TemporaryDirectory() as folder:
                where = scratch(page, folder)
                report(title, runner(block, where) if runner else "no way to run this language")


def main():
    """Checks everything."""
    if not (PREFIX / "bin" / "cannery").is_file():
        print("no toolkit in the prefix: run `make build` first", file=sys.stderr)
        return 1
    report = Report()
    pages = links.pages(ROOT)
    for path in pages:
        check_page(path, report)
    report("both READMEs hold the same blocks", blocks.compare(*(ROOT / name for name in READMES)))
    for path in pages:
        report(f"links of {path.relative_to(ROOT)}", links.broken(path, ROOT))
    for name, problem in facts.check(ROOT, PREFIX):
        report(name, problem)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
