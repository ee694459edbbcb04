#!/usr/bin/env python3
"""Builds and runs programs as a user would: with the prefix's headers and
libraries, through `cannery run`. Each checks itself; its exit code is the
verdict. Ends with `N passed, N failed`.

The programs are the examples. A program says in its head how it is to be run,
one line for each way: `cannery run [OPTIONS] -- PROGRAM`. One that says nothing
is run once, with the default settings. NAME.kernel.EXTENSION beside a program is
built into a shared object with kernels, which the program gets as its argument.
A Rust program that uses the crate `cannery` is built by cargo as its example.

`--demo` runs the mission programs only and shows what they print.
Needs only the standard library, a C and a C++ compiler, rustc and cargo.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix"))
FOLDERS = ("examples/c", "examples/cpp", "examples/rust", "examples/python")
BUILT = TARGET / "programs"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
LANGUAGES = {
    ".c": (os.environ.get("CC", "cc").split(), ["-std=c99"]),
    ".cpp": (os.environ.get("CXX", "c++").split(), ["-std=c++17"]),
}
CARGO = os.environ.get("CARGO", "cargo").split()
# A Rust program that uses the crate is one of its examples; the others need the compiler alone.
CRATE = re.compile(r"^use cannery::", re.MULTILINE)
RUSTC = os.environ.get("RUSTC", "rustc").split()
LIBRARIES = ["-Wl,--as-needed", "-lascendcl", "-lacl_dvpp", "-lacl_dvpp_mpi", "-lpthread"]
HEAD_LINES = 30
LIMIT = 120
RUN = re.compile(r"^\W*cannery run (?P<options>.*?)-- \S")


def c_command(source, out, is_kernel):
    """How a C or C++ source is compiled."""
    compiler, standard = LANGUAGES[source.suffix]
    kernel = ["-shared", "-fPIC"]
    program = [f"-L{PREFIX / 'lib64'}", *LIBRARIES]
    return [
        *(*compiler, *standard, *WARNINGS, "-O1", "-g", f"-I{PREFIX / 'include'}"),
        *(str(source), "-o", str(out), *(kernel if is_kernel else program)),
    ]


def rust_command(source, out, is_kernel):
    """How a Rust source is compiled: with the compiler alone."""
    kind = ["--crate-type", "cdylib"] if is_kernel else ["-L", str(PREFIX / "lib64")]
    name = source.name.split(".", maxsplit=1)[0]
    return [
        *(*RUSTC, "--edition", "2021", "-O", "-D", "warnings", "--crate-name", name),
        *(*kind, str(source), "-o", str(out)),
    ]


def uses_crate(source):
    """Whether it is an example of the crate `cannery`."""
    return source.suffix == ".rs" and bool(CRATE.search(source.read_text(encoding="utf-8")))


def build_example(source):
    """Builds an example of the crate; the program, or None with cargo's words."""
    command = [*CARGO, "build", "--release", "--locked", "--quiet", "--package", "cannery"]
    done = subprocess.run([*command, "--example", source.stem], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr.strip())
        return None
    return TARGET / "release" / "examples" / source.stem


def build(source):
    """Compiles one source; the program, or None with the compiler's words."""
    if uses_crate(source):
        return build_example(source)
    is_kernel = source.stem.endswith(".kernel")
    out = BUILT / source.relative_to(ROOT).with_suffix(".so" if is_kernel else "")
    out.parent.mkdir(parents=True, exist_ok=True)
    command = (rust_command if source.suffix == ".rs" else c_command)(source, out, is_kernel)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr.strip())
        return None
    return out


def command_of(source):
    """What a user would type to run it; None when it cannot be built."""
    if source.suffix == ".py":
        return [sys.executable, str(source)]
    kernels = source.with_suffix(f".kernel{source.suffix}")
    built = [build(file) for file in (source, kernels) if file.is_file()]
    return [str(out) for out in built] if all(built) else None


def execute(command, settings, quiet):
    """Runs it on the emulated device; whether it was content with itself."""
    line = [str(PREFIX / "bin" / "cannery"), "run", *(["--quiet"] if quiet else []), *settings, "--", *command]
    # A card of its own: the programs count bytes, and other processes would take some.
    with tempfile.TemporaryDirectory(prefix="cannery-programs-") as place:
        environment = {**os.environ, "CANNERY_RUNTIME_DIR": place}
        try:
            done = subprocess.run(line, env=environment, capture_output=quiet, text=True, check=False, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            print(f"stopped after {LIMIT} s")
            return False
    if done.returncode != 0 and quiet:
        print((done.stdout + done.stderr).strip())
        print(f"exit code {done.returncode}")
    return done.returncode == 0


def sources():
    """All programs, in a fixed order."""
    known = {*LANGUAGES, ".rs", ".py"}
    return [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).glob("*"))
        if path.suffix in known and not path.stem.endswith(".kernel")
    ]


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
