#!/usr/bin/env python3
"""Runs every test of every language and adds up what they say.

A suite is a command and a reader of its output. To add one, add a line to
SUITES. Everything a suite prints goes to target/test-logs/NAME.log; when it
fails, what matters of that log is shown. The last line of all is
`N passed, N failed`. The exit code is 0 only when nothing failed and every
suite ran at least one test. Needs only the standard library.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix"))
LOGS = TARGET / "test-logs"
VENV = ROOT / ".venv" / "bin"
# What is shown of the log of a suite that failed.
FAILURE = re.compile(r"\bFAILED\b|^error|panicked at|^E  ")
FOLLOWING_LINES = 6
TAIL_LINES = 20
SHOWN_LINES = 120


@dataclass
class Count:
    """Tests that passed, failed, and were left out."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


def cargo_test(output, _code):
    """Adds up the `test result:` lines, one for each test program."""
    pattern = r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored"
    rows = re.findall(pattern, output, re.MULTILINE)
    return Count(*(sum(int(row[column]) for row in rows) for column in range(3)))


def pytest(output, _code):
    """Reads the summary line; an error outside a test is a failure too."""
    lines = [line for line in output.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)]
    summary = lines[-1] if lines else ""
    words = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", summary)}
    errors = words.get("error", 0) + words.get("errors", 0)
    return Count(
        passed=words.get("passed", 0) + words.get("xfailed", 0),
        failed=words.get("failed", 0) + words.get("xpassed", 0) + errors,
        skipped=words.get("skipped", 0),
    )


def plain_line(output, _code):
    """Reads the last `N passed, N failed` line."""
    rows = re.findall(r"^(\d+) passed, (\d+) failed", output, re.MULTILINE)
    return Count(*map(int, rows[-1])) if rows else Count()


def exit_status(_output, code):
    """A check without a count of its own is one test."""
    return Count(passed=1) if code == 0 else Count(failed=1)


@dataclass
class Suite:
    """A command, the reader of its output, and its time limit in seconds."""

    name: str
    command: list
    reader: object
    environment: dict = field(default_factory=dict)
    limit: int = 600


PYTHON = str(VENV / "python")
CARGO = os.environ.get("CARGO", "cargo")

# The libraries whose exported names are compared with the contract.
EXPORTING = ("libascendcl.so", "libacl_dvpp.so", "libacl_dvpp_mpi.so", "libhccl.so")

SUITES = [
    Suite("format", [CARGO, "fmt", "--all", "--check"], exit_status),
    Suite(
        "clippy",
        [CARGO, "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        exit_status,
    ),
    Suite(
        "rustdoc",
        [CARGO, "doc", "--workspace", "--no-deps", "--locked"],
        exit_status,
        {"RUSTDOCFLAGS": "-D warnings"},
    ),
    Suite("ruff", [str(VENV / "ruff"), "check", "."], exit_status),
    Suite("ruff-format", [str(VENV / "ruff"), "format", "--check", "."], exit_status),
    Suite(
        "mypy",
        [str(VENV / "mypy"), "--strict", "crates/python/package/cannery"],
        exit_status,
        {"MYPYPATH": "crates/python/stubs"},
    ),
    Suite("tools", [PYTHON, "-m", "pytest", "-q", "tools/tests"], pytest),
    Suite("generated", [PYTHON, "tools/check_generated.py"], plain_line),
    Suite("rust", [CARGO, "test", "--workspace", "--locked", "--no-fail-fast"], cargo_test),
    Suite(
        "headers",
        [
            *(PYTHON, "tests/headers/check_headers.py", "--lib"),
            *(str(PREFIX / "lib64" / name) for name in EXPORTING),
        ],
        plain_line,
    ),
    Suite(
        "conformance",
        [CARGO, "run", "--release", "--locked", "--quiet", "--package", "cannery-conformance"],
        plain_line,
    ),
    Suite(
        "texts",
        [CARGO, "run", "--release", "--locked", "--quiet", "--package", "cannery-conformance", "--", "--texts", "zh"],
        plain_line,
    ),
    Suite(
        "model",
        [CARGO, "run", "--release", "--locked", "--quiet", "--package", "cannery-model"],
        plain_line,
    ),
    Suite(
        "streams",
        [CARGO, "run", "--release", "--locked", "--quiet", "--package", "cannery-streams-test"],
        plain_line,
    ),
    Suite(
        "sharing",
        [CARGO, "run", "--release", "--locked", "--quiet", "--package", "cannery-sharing-test"],
        plain_line,
    ),
    Suite("c-programs", [PYTHON, "tests/c/run.py"], plain_line),
    Suite("python", [PYTHON, "-m", "pytest", "-q", "tests/python"], pytest),
    Suite(
        "doctest",
        [
            PYTHON,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--doctest-modules",
            str(PREFIX / "python" / "cannery"),
        ],
        pytest,
        {"PYTHONPATH": str(PREFIX / "python"), "PYTHONDONTWRITEBYTECODE": "1"},
    ),
    Suite("programs", [PYTHON, "tools/run_programs.py"], plain_line),
    Suite("readme", [PYTHON, "tests/readme/check_readme.py"], plain_line),
]


def run(suite):
    """Runs one suite: its count, its time, its log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{suite.name}.log"
    environment = {**os.environ, "CANNERY_LANG": "en", **suite.environment, "CANNERY_PREFIX": str(PREFIX)}
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as out:
        code = wait(suite, out, environment)
    output = log.read_text(encoding="utf-8", errors="replace")
    count = suite.reader(output, code)
    if code != 0 and count.failed == 0:
        count.failed = 1  # it did not even get to its tests
    if count.passed + count.failed == 0:
        print(f"  {suite.name}: ran no test at all")
        count.failed = 1
    return count, time.monotonic() - started, log


def wait(suite, out, environment):
    """Runs the command in a group of its own, so that a limit ends all of it."""
    try:
        process = subprocess.Popen(
            suite.command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as missing:
        out.write(f"cannot run {suite.command[0]}: {missing}\n")
        return 127
    try:
        return process.wait(timeout=suite.limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        out.write(f"\nstopped after {suite.limit} s\n")
        return 124
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGTERM)
        raise


def show_failure(log):
    """Shows the lines of a log that name a failure, with what follows each, and
    its last lines."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    end = max(len(lines) - TAIL_LINES, 0)
    shown = set(range(end, len(lines)))
    for number, line in enumerate(lines[:end]):
        if FAILURE.search(line):
            shown.update(range(number, min(number + FOLLOWING_LINES, end)))
        if len(shown) > SHOWN_LINES:
            break
    last = -1
    for number in sorted(shown):
        if number != last + 1:
            print("  | ...")
        print(f"  | {lines[number]}")
        last = number


def row(name, passed, failed, skipped, seconds):
    """One line of the table."""
    return f"{name:<14}{passed:>9}{failed:>9}{skipped:>9}{seconds:>9}"


def main():
    """Runs the chosen suites and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="only these (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the suites")
    options = parser.parse_args()
    names = [suite.name for suite in SUITES]
    if options.list:
        print("\n".join(names))
        return 0
    unknown = sorted(set(options.suites) - set(names))
    if unknown:
        parser.error(f"no such suite: {', '.join(unknown)} (there are: {', '.join(names)})")

    total = Count()
    started = time.monotonic()
    print(row("suite", "passed", "failed", "skipped", "seconds"), flush=True)
    for suite in SUITES:
        if options.suites and suite.name not in options.suites:
            continue
        count, seconds, log = run(suite)
        print(row(suite.name, count.passed, count.failed, count.skipped, f"{seconds:.0f}"), flush=True)
        if count.failed:
            show_failure(log)
            print(f"  whole output: {os.path.relpath(log)}", flush=True)
        total.passed += count.passed
        total.failed += count.failed
        total.skipped += count.skipped
    elapsed = f"{time.monotonic() - started:.0f}"
    print(row("all", total.passed, total.failed, total.skipped, elapsed))
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
