"""Compares the exported names of the built libraries with the spec, and links against them."""

import re
import subprocess
from pathlib import Path

from spec_programs import include_path, load

MEDIA = {"acl/ops/acl_dvpp.h": "libacl_dvpp.so", "acl/dvpp/hi_dvpp.h": "libacl_dvpp_mpi.so"}
OWN = {"cannery_cards", "cannery_info", "cannery_stats"}


def home_of(row):
    """Name of the library that must export a row's function."""
    if "header" in row:
        return MEDIA.get(row["header"], "libascendcl.so")
    return row["library"] if row["library"] == "libhccl.so" else "libascendcl.so"


def exported(path):
    """Dynamic symbols that a library defines."""
    run = subprocess.run(["nm", "-D", "--defined-only", str(path)], check=True, capture_output=True, text=True)
    # NAME or NAME@@VERSION in the last column; type A marks the version names themselves.
    rows = [line.split() for line in run.stdout.splitlines()]
    return {row[-1].split("@")[0] for row in rows if len(row) >= 2 and row[-2] != "A"}


def soname(path):
    """SONAME of a library, or an empty text."""
    run = subprocess.run(["readelf", "-d", str(path)], check=True, capture_output=True, text=True)
    found = re.search(r"\(SONAME\).*\[(.*)\]", run.stdout)
    return found.group(1) if found else ""


def compare(spec, libraries, report):
    """Names of the spec against names of the libraries, both ways."""
    symbols = {Path(lib).name: exported(lib) for lib in libraries}
    wanted = {}
    for row in load(spec, "functions") + load(spec, "extra_exports"):
        wanted.setdefault(home_of(row), set()).add(row["name"])
    wanted["libascendcl.so"] |= OWN
    for home in sorted(wanted):
        names = wanted[home]
        title = f"{home} exports its {len(names)} names"
        if home not in symbols:
            report(title, False, "library not given")
            continue
        missing = sorted(names - symbols[home])
        report(title, not missing, "missing: " + " ".join(missing))
    main = symbols.get("libascendcl.so")
    if main is not None:
        allowed = wanted["libascendcl.so"]
        surplus = sorted(n for n in main - allowed if not n.startswith("cannery_"))
        report("libascendcl.so exports nothing else", not surplus, "surplus: " + " ".join(surplus))
    for lib in libraries:
        name = soname(lib)
        report(f"SONAME of {Path(lib).name}", name == Path(lib).name, f"it is {name!r}")


def reference_program(spec):
    """A program that takes the address of every function and counts those that are there."""
    functions = load(spec, "functions")
    headers = sorted({include_path(row["header"]) for row in functions})
    names = [row["name"] for row in functions] + sorted(OWN)
    out = ["#include <stdio.h>"]
    out += [f'#include "{header}"' for header in headers + ["cannery/cannery.h"]]
    out.append("typedef void (*any_function)(void);")
    out.append("static any_function volatile const functions[] = {")
    out += [f"    (any_function){name}," for name in names]
    out.append("};")
    out.append(
        """int main(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        count += functions[i] != 0;
    }
    printf("%u\\n", count);
    return 0;
}"""
    )
    return "\n".join(out) + "\n", len(names)


def link(spec, include, libraries, compilers, folder, report):
    """Links the reference program with immediate binding, and runs it."""
    text, count = reference_program(spec)
    for language, suffix, command in compilers:
        title = f"{language} program with all {count} functions links and starts"
        source = folder / ("reference" + suffix)
        source.write_text(text, encoding="utf-8")
        program = folder / ("reference_" + suffix.strip("."))
        folders = sorted({str(Path(lib).resolve().parent) for lib in libraries})
        build = subprocess.run(
            command
            + ["-Wall", "-Wextra", "-pedantic", "-Werror", "-I", str(include), str(source)]
            + ["-o", str(program), "-Wl,--no-as-needed"]
            + [str(Path(lib).resolve()) for lib in libraries]
            + ["-Wl,-z,defs,-z,now", "-Wl,-rpath," + ":".join(folders)],
            capture_output=True,
            text=True,
            check=False,
        )
        if build.returncode != 0:
            report(title, False, build.stderr)
            continue
        run = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
        good = run.returncode == 0 and run.stdout.strip() == str(count)
        report(title, good, run.stdout + run.stderr)
