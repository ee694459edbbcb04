#!/usr/bin/env python3
"""Checks the C headers against spec/, and on request the built libraries against both.

    check_headers.py
    check_headers.py --lib DIR/libascendcl.so DIR/libacl_dvpp.so DIR/libacl_dvpp_mpi.so DIR/libhccl.so

The last line is "N passed, N failed"; the exit code is 1 when something failed. CC and CXX
name other compilers than gcc and g++.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import library
import refusals
import user_programs
from spec_programs import CXX, C, programs

ROOT = Path(__file__).resolve().parent.parent.parent
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
ALONE = ((C, "c99"), (CXX, "c++11"), (CXX, "c++17"))


class Report:
    """Counts results and prints failures as they come."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def __call__(self, title, good, detail=""):
        if good:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED  {title}")
        for line in detail.strip().splitlines()[:12]:
            print("        " + line)


class Compiler:
    """Compiles texts without writing an object file."""

    def __init__(self, include):
        self.include = include
        self.command = {
            C: shlex.split(os.environ.get("CC", "gcc")),
            CXX: shlex.split(os.environ.get("CXX", "g++")),
        }

    def run(self, text, language, standard, include=None):
        """Whether the text compiles, and what the compiler says."""
        command = self.command[language] + ["-std=" + standard, "-x", language] + STRICT
        command += ["-I", str(include or self.include), "-fsyntax-only", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stderr


def all_headers(include):
    """Every header below the include folder, as a program includes it."""
    return sorted(p.relative_to(include).as_posix() for p in include.rglob("*.h"))


def include_text(*headers):
    """A translation unit that includes headers; ISO C wants at least one declaration."""
    return "".join(f'#include "{h}"\n' for h in headers) + "typedef int not_empty;\n"


def check_alone(compiler, pool, report):
    """Every header by itself, all together, backwards, and without the folder name."""
    headers = all_headers(compiler.include)
    jobs = []
    for language, standard in ALONE:
        for header in headers:
            title = f"{header} alone as {standard}"
            jobs.append((title, include_text(header), language, standard, None))
        for order, title in ((headers, "in order"), (headers[::-1], "backwards")):
            text = include_text(*(order + order))
            jobs.append((f"all headers twice, {title}, {standard}", text, language, standard, None))
        inner = [h[len("acl/") :] for h in headers if h.startswith("acl/") and h.count("/") == 1]
        jobs.append(
            (
                "headers from inside acl/, " + standard,
                include_text(*inner),
                language,
                standard,
                compiler.include / "acl",
            )
        )
    results = pool.map(lambda job: compiler.run(*job[1:]), jobs)
    for job, (good, said) in zip(jobs, results):
        report(job[0], good, said)
    print(f"headers: {len(headers)} headers, {len(jobs)} compilations")


def check_spec(compiler, pool, spec, report):
    """Values, layouts and signatures, each asserted in C and C++ in the header it belongs to."""
    made, facts = programs(spec)
    standards = {C: "c11", CXX: "c++11"}
    results = pool.map(lambda p: compiler.run(p.text(), p.language, standards[p.language]), made)
    for program, (good, said) in zip(made, results):
        errors = "\n".join(line for line in said.splitlines() if "error" in line)
        report(f"{program.header} against the spec, {program.language}", good, errors)
    for language in (C, CXX):
        count = sum(p.count for p in made if p.language == language)
        print(f"spec: {facts} facts, {count} assertions in {language}")


def check_users(compiler, report):
    """Programs that must compile, and programs that must not."""
    for language, title, text in user_programs.GOOD:
        for standard in [s for known, s in ALONE if known == language]:
            good, said = compiler.run(text, language, standard)
            report(f"program: {title} ({standard})", good, said)
    for language, title, word, text in user_programs.BAD:
        standard = "c99" if language == C else "c++11"
        good, said = compiler.run(text, language, standard)
        report(f"refused: {title}", not good and word in said, said or "it compiled")
    for title, assertion in user_programs.WRONG_FACTS:
        text = '#include "acl/acl.h"\n' + assertion + "\n"
        good, said = compiler.run(text, C, "c11")
        found = not good and "static assertion failed" in said
        report(f"a wrong {title} is noticed", found, said or "it compiled")
    must_fail = len(user_programs.BAD) + len(user_programs.WRONG_FACTS)
    print(f"programs: {len(user_programs.GOOD)} of users, {must_fail} that must fail")


def check_libraries(compiler, spec, libraries, report):
    """Exported names and linking."""
    missing = [lib for lib in libraries if not Path(lib).is_file()]
    for lib in missing:
        report(f"library {lib}", False, "no such file")
    present = [lib for lib in libraries if lib not in missing]
    library.compare(spec, present, report)
    with tempfile.TemporaryDirectory() as folder:
        compilers = (
            ("C", ".c", compiler.command[C] + ["-std=c99"]),
            ("C++", ".cpp", compiler.command[CXX] + ["-std=c++11"]),
        )
        library.link(spec, compiler.include, present, compilers, Path(folder), report)
    for lib in present:
        if Path(lib).name == "libascendcl.so":
            refusals.check(str(Path(lib).resolve()), report)
    print("libraries: {}".format(" ".join(Path(lib).name for lib in present)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--include", type=Path, default=ROOT / "include")
    parser.add_argument("--spec", type=Path, default=ROOT / "spec")
    parser.add_argument("--lib", nargs="+", metavar="FILE", help="built libraries to compare")
    options = parser.parse_args()
    report = Report()
    compiler = Compiler(options.include.resolve())
    with ThreadPoolExecutor(max_workers=2) as pool:
        check_alone(compiler, pool, report)
        check_spec(compiler, pool, options.spec, report)
    check_users(compiler, report)
    if options.lib:
        check_libraries(compiler, options.spec, options.lib, report)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
