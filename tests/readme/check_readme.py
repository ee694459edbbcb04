#!/usr/bin/env python3
"""Runs the code blocks of the documentation, so that what it shows is true.

A fenced block is tested when an HTML comment stands right above it:

* ``<!-- test -->`` above a ``c``, ``cpp``, ``python``, ``rust`` or ``sh`` block: it is compiled and run on
  the emulated NPU and must end with 0. In a ``console`` block each line after ``$`` is a command, and the
  lines that follow it must be in its output. When its first line is a comment that names a file (``/* hello.c */``,
  ``# hello.py``), the block is also written to that file for the ``sh`` blocks of the same page,
  which run in a directory of their own with ``target/prefix`` in it.
* ``<!-- test: needs cmake -->``: the same where that command exists; elsewhere it is left out, and
  said so. ``<!-- test: with --devices 2 -->``: the program runs with these options of `cannery run`.
* ``<!-- file -->``: the block is only written to the file that its first line names.
* ``<!-- doctest: CRATE -->``: a ``rust`` block that cargo tests, because the crate's documentation holds the
  page; that it does is checked.
* ``<!-- output: COMMAND -->``: the command's output must contain the lines of the block, in their
  order. A line ``...`` stands for any lines; without one, they follow each other.

A block of code without such a comment is a failure; the declarations of docs/reference are compiled
with the headers instead. Besides: both READMEs hold the same blocks, relative links lead somewhere,
every page is a chapter of the book, every function has an entry in the reference, the settings page
lists every setting, and every test that a page names exists. Names of pages as arguments: only the
blocks and links of these. Ends with `N passed, N failed`. Needs only the standard library, a C and a
C++ compiler, and the prefix (CANNERY_PREFIX, else target/prefix); rustc for blocks in Rust.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import blocks
import book
import facts
import links

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix")).resolve()
CC = os.environ.get("CC", "cc").split()
CXX = os.environ.get("CXX", "c++").split()
RUSTC = os.environ.get("RUSTC", "rustc").split()
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
C_FLAGS = ["-std=c99", *WARNINGS]
LINK = [f"-I{PREFIX / 'include'}", f"-L{PREFIX / 'lib64'}", "-lascendcl"]
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
    environment["LC_ALL"] = "C"
    environment["CANNERY_PREFIX"] = str(PREFIX)
    # A card of its own: blocks count bytes, and other processes would take some.
    with tempfile.TemporaryDirectory(prefix="cannery-readme-") as place:
        environment["CANNERY_RUNTIME_DIR"] = place
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


def run_linked(block, where, suffix, compiler):
    """Compiles and runs a program."""
    source = where / f"block{suffix}"
    source.write_text(block.body, encoding="utf-8")
    _, problem = execute([*compiler, str(source), "-o", str(where / "block"), *LINK], where)
    return problem or execute(on_npu(block, [str(where / "block")]), where)[1]


def run_c(block, where):
    """Compiles and runs a program in C."""
    return run_linked(block, where, ".c", [*CC, *C_FLAGS])


def run_cpp(block, where):
    """Compiles and runs a program in C++."""
    return run_linked(block, where, ".cpp", [*CXX, "-std=c++17", *WARNINGS])


def run_rust(block, where):
    """Compiles and runs a program in Rust, with the compiler alone."""
    source = where / "block.rs"
    source.write_text(block.body, encoding="utf-8")
    command = [*RUSTC, "--edition", "2021", "-D", "warnings", "-L", str(PREFIX / "lib64")]
    _, problem = execute([*command, str(source), "-o", str(where / "block")], where)
    return problem or execute(on_npu(block, [str(where / "block")]), where)[1]


def run_python(block, where):
    """Runs a program."""
    source = where / "block.py"
    source.write_text(block.body, encoding="utf-8")
    return execute(on_npu(block, [sys.executable, str(source)]), where)[1]


def run_sh(block, where):
    """Runs commands as a user would type them in the checkout."""
    return execute(["bash", "-eu", "-o", "pipefail", "-c", block.body], where)[1]


def run_console(block, where):
    """Runs the commands of a session one by one, and compares what each shows."""
    for command, shown in blocks.session(block.body):
        output, problem = execute(["bash", "-o", "pipefail", "-c", command], where)
        problem = problem or blocks.difference(shown, output)
        if problem:
            return f"$ {command}\n{problem}"
    return "" if blocks.session(block.body) else "no line begins with `$ `"


RUNNERS = {
    "c": run_c,
    "cpp": run_cpp,
    "python": run_python,
    "rust": run_rust,
    "sh": run_sh,
    "console": run_console,
}


def scratch(page, folder):
    """A directory with the prefix and the named files of a page."""
    where = Path(folder)
    (where / "target").mkdir()
    (where / "target" / "prefix").symlink_to(PREFIX)
    for block in page:
        if block.kind in ("test", "file") and block.file_name:
            file = where / block.file_name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
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
        elif block.kind == "doctest":
            report(title, held_by_crate(block, path))
        elif block.language in blocks.CODE and not block.kind:
            report(title, "no comment above this block says how it is tested")


def held_by_crate(block, page):
    """What is wrong with the claim that cargo tests a block."""
    root = ROOT / "crates" / block.argument / "src/lib.rs"
    line = f'include_str!("../../../{page.relative_to(ROOT)}")'
    holds = root.is_file() and line in root.read_text(encoding="utf-8")
    return "" if block.language == "rust" and holds else f"{root.relative_to(ROOT)} does not hold this page"


def check_declarations(path, report):
    """Compiles what a page of the reference declares, after the headers that declare the same."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "declarations.c"
        source.write_text(book.declarations(ROOT, path), encoding="utf-8")
        _, problem = execute([*CC, *C_FLAGS, f"-I{PREFIX / 'include'}", "-fsyntax-only", str(source)], folder)
    report(f"declarations of {path.relative_to(ROOT)}", problem)


def main():
    """Checks everything, or the pages that are named."""
    if not (PREFIX / "bin" / "cannery").is_file():
        print("no toolkit in the prefix: run `make build` first", file=sys.stderr)
        return 1
    # Programs of this Python's environment, such as pytest.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    report = Report()
    pages = [Path(name).resolve() for name in sys.argv[1:]] or links.pages(ROOT)
    for path in pages:
        if path.parent == ROOT / book.REFERENCE:
            check_declarations(path, report)
        else:
            check_page(path, report)
    if sys.argv[1:]:
        for path in pages:
            report(f"links of {path.relative_to(ROOT)}", links.broken(path, ROOT))
        print(f"{report.passed} passed, {report.failed} failed")
        return 1 if report.failed or not report.passed else 0
    for name, problem in book.check(ROOT):
        report(name, problem)
    _, problem = execute([sys.executable, "tools/make_picture.py", "--check"], ROOT)
    report("the picture shows what the tool shows", problem)
    report("both READMEs hold the same blocks", blocks.compare(*(ROOT / name for name in READMES)))
    for path in pages:
        report(f"links of {path.relative_to(ROOT)}", links.broken(path, ROOT))
    for name, problem in facts.check(ROOT, PREFIX):
        report(name, problem)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
