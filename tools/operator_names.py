#!/usr/bin/env python3
"""Collects the operator names that released wheels leave undefined.

Reads wheels, keeps the names that their libraries expect from operator libraries and from the inner
runtime (names only), and writes them to crates/ascendcl/operators/names.txt, from which
tools/gen_operators.py makes the refusing libraries. What the file has of other wheels, and of other
versions of a wheel, stays.

    tools/operator_names.py WHEEL...
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from gen_common import ROOT, load

OUTPUT = ROOT / "crates/ascendcl/operators/names.txt"
# C functions (not those for pictures), C++ functions of the operator and graph libraries, functions of the
# inner runtime and of the driver, functions of collectives, dumps of operators.
WANTED = re.compile(r"acl(?!dvpp|vdec)|_ZNK?(2ge|3Adx|4adxl|\d+acl)|(rt|hal|Hccl)[A-Z]")


def symbols(path):
    """(name, defined here) of a library. Programs look whether weak names exist: those are left out."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", str(path)], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        part = line.split()
        if len(part) >= 8 and part[4] in ("GLOBAL", "WEAK"):
            if part[4] == "GLOBAL" or part[6] != "UND":
                yield part[7].partition("@")[0], part[6] != "UND"


def undefined(wheel):
    """What the libraries of a wheel take from elsewhere."""
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if ".so" in Path(name).name]
            archive.extractall(place, names)
        wanted, have = set(), set()
        for name in names:
            for symbol, defined in symbols(Path(place) / name):
                (have if defined else wanted).add(symbol)
    return wanted - have


def parts():
    """What the file has by now: wheel and its version -> its lines, with the one that names it."""
    found = {}
    for line in OUTPUT.read_text(encoding="utf-8").splitlines(keepends=True):
        if wheel := re.match(r"# (\S+ \S+): \d+$", line):
            found[wheel[1]] = [line]
        elif found and not line.startswith("#"):
            found[list(found)[-1]].append(line)
    return found


def main():
    """Reads the wheels and writes the file."""
    known = {row["name"] for file in ("functions", "extra_exports") for row in load(file)}
    wheels = parts() if OUTPUT.exists() else {}
    for wheel in map(Path, sys.argv[1:]):
        name, version = wheel.name.split("-")[:2]
        found = sorted(symbol for symbol in undefined(wheel) - known if WANTED.match(symbol))
        wheels[f"{name} {version}"] = [f"# {name} {version}: {len(found)}\n", *(f"{symbol}\n" for symbol in found)]
    lines = [
        "# Names of operators and of the inner runtime that released wheels leave undefined. Names only.\n",
        "# Written by tools/operator_names.py WHEEL...; read by tools/gen_operators.py.\n",
        *(line for _, part in sorted(wheels.items()) for line in part),
    ]
    OUTPUT.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
