#!/usr/bin/env python3
"""Compiles the C99 and C++17 programs of this folder against the prefix and
runs them. Each program checks itself; its exit code is the verdict. Ends with
`N passed, N failed`.

The head of a program says how it is compiled and run, one thing a line:

    cases: C01 C02          cases from the field that it covers
    run: NAME=VALUE ...     a run with these settings (several: several runs)
    flags: -ldl             more for the compiler
    kernels: NAME ...       needs NAME.so, made of kernels/NAME.c; it lies where
                            the program runs
    tool: asan|tsan|valgrind   under this tool (several: several runs); a tool
                            that the machine lacks is left out and said so
    alone: REASON           runs while no other program runs

Needs a C and a C++ compiler and the standard library only.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix")).resolve()
BUILT = TARGET / "c-programs"
LIBRARIES = ["-Wl,--as-needed", "-lascendcl", "-lacl_dvpp", "-lacl_dvpp_mpi", "-lpthread"]
LANGUAGES = {
    ".c": (os.environ.get("CC", "gcc").split(), ["-std=c99"]),
    ".cpp": (os.environ.get("CXX", "g++").split(), ["-std=c++17"]),
}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
HEAD_LINES = 40
LIMIT = 180


@dataclass
class Tool:
    """Compiler flags of a tool, what is put before the program, its settings."""

    flags: list = field(default_factory=list)
    before: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)


TOOLS = {
    "": Tool(),
    "asan": Tool(["-fsanitize=address", "-fno-omit-frame-pointer"]),
    # It cannot see how a library that it has not compiled synchronises itself.
    "tsan": Tool(["-fsanitize=thread"], settings={"TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}),
    "valgrind": Tool(before=["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=no"]),
}


@dataclass
class Program:
    """A source and what its head says."""

    source: Path
    cases: list = field(default_factory=list)
    runs: list = field(default_factory=list)
    flags: list = field(default_factory=list)
    kernels: list = field(default_factory=list)
    tools: list = field(default_factory=list)
    alone: bool = False

    @classmethod
    def read(cls, source):
        """Reads the head."""
        program = cls(source)
        for line in source.read_text(encoding="utf-8").splitlines()[:HEAD_LINES]:
            match = re.match(r"^ \* (cases|run|flags|kernels|tool|alone):\s*(.*)$", line)
            if not match:
                continue
            key, words = match[1], shlex.split(match[2])
            if key == "cases":
                program.cases += words
            elif key == "run":
                program.runs.append(dict(word.split("=", 1) for word in words))
            elif key == "flags":
                program.flags += words
            elif key == "kernels":
                program.kernels += words
            elif key == "tool":
                program.tools += words
            else:
                program.alone = True
        program.runs = program.runs or [{}]
        program.tools = program.tools or [""]
        return program


@dataclass
class Job:
    """One run of a program."""

    program: Program
    settings: dict
    tool: str

    @property
    def name(self):
        """What the list shows."""
        words = [f"{key}={value}" for key, value in self.settings.items()]
        return " ".join([self.program.source.name, *([self.tool] if self.tool else []), *words])


def has_tool(tool):
    """Whether the machine can compile for it and run it."""
    if not tool:
        return True
    flags, before = TOOLS[tool].flags, TOOLS[tool].before
    if before and not shutil.which(before[0]):
        return False
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "try.c"), Path(folder, "try")
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        compiler, standard = LANGUAGES[".c"]
        made = subprocess.run(
            [*compiler, *standard, *flags, str(source), "-o", str(program)],
            capture_output=True,
            check=False,
        )
        if made.returncode != 0:
            return False
        return subprocess.run([*before, str(program)], capture_output=True, check=False).returncode == 0


def build_kernels(name):
    """Compiles a shared object with kernels; the compiler's words when it failed."""
    compiler, standard = LANGUAGES[".c"]
    source, out = HERE / "kernels" / f"{name}.c", BUILT / f"{name}.so"
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(*compiler, *standard, *WARNINGS, "-pedantic", "-O2", "-g", "-shared", "-fPIC"),
        *(f"-I{PREFIX / 'include'}", str(source), "-o", str(out)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else None


def build(program, tool):
    """Compiles a program; its path, or the compiler's words."""
    compiler, standard = LANGUAGES[program.source.suffix]
    out = BUILT / (program.source.stem + (f".{tool}" if tool else ""))
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(*compiler, *standard, *WARNINGS, "-O1", "-g", *TOOLS[tool].flags),
        *(f"-I{PREFIX / 'include'}", str(program.source), "-o", str(out)),
        *(f"-L{PREFIX / 'lib64'}", *LIBRARIES, *program.flags),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (out, None) if done.returncode == 0 else (None, done.stderr)


def play(job, path):
    """Runs a program; None when it was content, else what went wrong."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CANNERY_")}
    libraries = [str(PREFIX / "lib64"), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    environment["CANNERY_PREFIX"] = str(PREFIX)
    environment.update(TOOLS[job.tool].settings)
    environment.update(job.settings)
    command = [*TOOLS[job.tool].before, str(path)]
    # Programs that run beside each other share no card.
    with tempfile.TemporaryDirectory(prefix="cannery-c-") as place:
        environment.setdefault("CANNERY_RUNTIME_DIR", place)
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=LIMIT,
                cwd=BUILT,
            )
        except subprocess.TimeoutExpired:
            return f"stopped after {LIMIT} s"
    if done.returncode == 0:
        return None
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}".strip()


def report(job, fault, seconds):
    """One line for a run, more when it failed. Whether it passed."""
    print(f"{'FAILED' if fault else 'ok    '} {seconds:6.1f} s  {job.name}", flush=True)
    if fault:
        print("  " + fault.replace("\n", "\n  "), flush=True)
    return not fault


def main():
    """Parses the command line and runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("programs", nargs="*", metavar="NAME", help="only these (default: all)")
    parser.add_argument("--cases", action="store_true", help="list the cases and their programs")
    options = parser.parse_args()
    sources = sorted(path for path in HERE.iterdir() if path.suffix in LANGUAGES)
    programs = [Program.read(source) for source in sources]
    if options.programs:
        wanted = {Path(name).stem for name in options.programs}
        programs = [program for program in programs if program.source.stem in wanted]
    if options.cases:
        rows = sorted((case, program.source.name) for program in programs for case in program.cases)
        print("\n".join(f"{case} {name}" for case, name in rows))
        return 0
    if not (PREFIX / "lib64" / "libascendcl.so").is_file():
        print(f"no toolkit in {PREFIX}: run `make build` first", file=sys.stderr)
        return 1

    passed = failed = 0
    missing = {tool for tool in TOOLS if not has_tool(tool)}
    for tool in sorted(missing):
        print(f"this machine lacks {tool}: its runs are left out")
    jobs = [
        Job(program, settings, tool)
        for program in programs
        for tool in program.tools
        if tool not in missing
        for settings in program.runs
    ]
    keys = sorted({(job.program.source, job.tool) for job in jobs})
    by_source = {program.source: program for program in programs}
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        kernels = sorted({name for program in programs for name in program.kernels})
        for name, words in zip(kernels, pool.map(build_kernels, kernels)):
            if words:
                print(f"kernels/{name}.c does not compile\n{words}")
                failed += 1
        built = dict(zip(keys, pool.map(lambda key: build(by_source[key[0]], key[1]), keys)))

        def run(job):
            path, words = built[job.program.source, job.tool]
            started = time.monotonic()
            fault = play(job, path) if path else f"does not compile\n{words}"
            return fault, time.monotonic() - started

        together = [job for job in jobs if not job.program.alone]
        for job, result in zip(together, pool.map(run, together)):
            good = report(job, *result)
            passed, failed = passed + good, failed + (not good)
    for job in (job for job in jobs if job.program.alone):
        good = report(job, *run(job))
        passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
