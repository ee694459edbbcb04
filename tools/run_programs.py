#!/usr/bin/env python3
"""Builds and runs programs as a user would: with the prefix's headers and
libraries, through `cannery run`. Each checks itself; its exit code is the
verdict. Ends with `N passed, N failed`.

The programs are the examples. A program says in its head how it is to be run,
one line for each way: `cannery run [OPTIONS] -- PROGRAM`. One that says nothing
is run once, with the default settings.

`--demo` runs the mission programs only and shows what they print.
Needs only the standard library, a C and a C++ compiler.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix"))
FOLDERS = ("examples/c", "examples/cpp", "examples/python")
BUILT = TARGET / "programs"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
LANGUAGES = {
    ".c": (os.environ.get("CC", "cc").split(), ["-std=c99"]),
    ".cpp": (os.environ.get("CXX", "c++").split(), ["-std=c++17"]),
}
LIBRARIES = ["-Wl,--as-needed", "-lascendcl", "-lacl_dvpp", "-lacl_dvpp_mpi", "-lpthread"]
HEAD_LINES = 30
LIMIT = 120
RUN = re.compile(r"^\W*cannery run (?P<options>.*?)-- \S")


def build(source):
    """Compiles one source; the program, or None with the compiler's words."""
    compiler, standard = LANGUAGES[source.suffix]
    program = BUILT / source.relative_to(ROOT).with_suffix("")
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(*compiler, *standard, *WARNINGS, "-O1", "-g"),
        *(f"-I{PREFIX / 'include'}", str(source), "-o", str(program)),
        *(f"-L{PREFIX / 'lib64'}", *LIBRARIES),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr.strip())
        return None
    return program


def command_of(source):
    """What a user would type to run it; None when it cannot be built."""
    if source.suffix == ".py":
        return [sys.executable, str(source)]
    program = build(source)
    return program and [str(program)]


def execute(command, settings, quiet):
    """Runs it on the emulated device; whether it was content with itself."""
    line = [str(PREFIX / "bin" / "cannery"), "run", *(["--quiet"] if quiet else []), *settings, "--", *command]
    try:
        done = subprocess.run(line, capture_output=quiet, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print(f"stopped after {LIMIT} s")
        return False
    if done.returncode != 0 and quiet:
        print((done.stdout + done.stderr).strip())
        print(f"exit code {done.returncode}")
    return done.returncode == 0


def sources():
    """All programs, in a fixed order."""
    known = {*LANGUAGES, ".py"}
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*")) if path.suffix in known]


def ways(source):
    """The settings under which a program wants to be run."""
    head = source.read_text(encoding="utf-8").splitlines()[:HEAD_LINES]
    found = [RUN.match(line) for line in head]
    return [shlex.split(match["options"]) for match in found if match] or [[]]


def demo():
    """Shows the mission in each language."""
    for source in sources():
        if source.stem != "mission":
            continue
        command = command_of(source)
        print(flush=True)
        if not command or not execute(command, [], quiet=False):
            return 1
    return 0


def test():
    """Runs everything, one line each."""
    passed = failed = 0
    for source in sources():
        command = command_of(source)
        for settings in ways(source):
            good = bool(command) and execute(command, settings, quiet=True)
            name = f"{source.relative_to(ROOT)} {' '.join(settings)}".rstrip()
            print(f"{'ok    ' if good else 'FAILED'} {name}", flush=True)
            passed += good
            failed += not good
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--demo", action="store_true", help="show the mission programs")
    options = parser.parse_args()
    if not (PREFIX / "bin" / "cannery").is_file():
        print(f"no toolkit in {PREFIX}: run `make build` first", file=sys.stderr)
        return 1
    return demo() if options.demo else test()


if __name__ == "__main__":
    sys.exit(main())
