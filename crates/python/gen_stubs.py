#!/usr/bin/env python3
"""Writes the type stubs of the `acl` module.

Names, parameters and result shapes come from spec/pyacl.jsonl, the documentation
from the built module, so stubs, contract and module cannot drift apart. Run it
with the module on the path:

    PYTHONPATH=target/prefix/python python3 crates/python/gen_stubs.py [--check]
"""

import argparse
import importlib
import inspect
import json
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUBS = Path(__file__).resolve().parent / "stubs" / "acl"

SUBMODULES = ("blas", "fv", "himpi", "mdl", "media", "op", "prof", "rt", "util")

HEADS = {
    "acl": "The drop-in `acl` module: positional calls, numbers for addresses and handles, codes for failures.",
    "acl.rt": "Devices, contexts, streams, events, memory, kernels.",
    "acl.util": "Bytes, NumPy arrays and threads.",
    "acl.media": "The memory of the first media family.",
    "acl.himpi": "The memory of the second media family.",
}

# Lines no longer than the project's Python has them.
WIDTH = 120

# Any number: the module takes what has __index__.
NUMBER = "SupportsIndex"
SHORT = {
    "list of int": ("list[int]", "list[int]"),
    "list of dict": ("list[dict[str, Any]]", "list[dict[str, Any]]"),
    "list of [lo,hi]": ("list[list[int]]", "list[list[int]]"),
    "list of int or None": ("list[int] | None", "list[int] | None"),
    "str or None": ("str | None", "str | None"),
    "dict": ("dict[str, Any]", "dict[str, Any]"),
    "callable": ("Callable[..., object]", ""),
    "callable or None": ("Callable[..., object] | None", ""),
    "tuple of int": ("tuple[int, ...]", ""),
    "list (any object or None)": ("object", ""),
    "numpy.ndarray": ("NDArray[Any]", "NDArray[Any]"),
    "bytes": ("bytes", "bytes"),
    "str": ("str", "str"),
    "float": ("float", "float"),
    "int": (NUMBER, "int"),
}
# The manual says "list"; the module passes any object on.
EXACT = {("acl.rt.launch_callback", "user_data_list"): "object"}
# Arguments that may be left out.
OPTIONAL = {"acl.init", "acl.rt.set_exception_info_callback", "acl.rt.get_group_count"}


def contract():
    """The rows of the contract, by module."""
    modules = {name: [] for name in HEADS}
    with (ROOT / "spec" / "pyacl.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            modules[row["name"].rpartition(".")[0]].append(row)
    return modules


def parameter(row, arg):
    """One parameter with its type."""
    kind = EXACT.get((row["name"], arg["name"])) or SHORT[arg["type"]][0]
    return f"{arg['name']}: {kind}" + (" = ..." if row["name"] in OPTIONAL else "")


def result(row):
    """The type of what a function returns."""
    kinds = [SHORT[item["type"]][1] for item in row["returns"]]
    if not kinds:
        return "None"
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def documentation(name):
    """The docstring of the built function, its first line without the call."""
    module, _, function = name.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(module), function))
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def function(row):
    """One function of a stub file."""
    short = row["name"].rpartition(".")[2]
    parameters = [parameter(row, arg) for arg in row["args"]]
    if row["name"] == "acl.finalize":
        parameters = ["*ignored: object"]
    elif parameters:
        parameters.append("/")
    head = f"def {short}({', '.join(parameters)}) -> {result(row)}:"
    if len(head) > WIDTH:
        head = f"def {short}(\n    {', '.join(parameters)}\n) -> {result(row)}:"
    if max(map(len, head.splitlines())) > WIDTH:
        head = f"def {short}(\n" + "".join(f"    {item},\n" for item in parameters) + f") -> {result(row)}:"
    lines = documentation(row["name"]).splitlines()
    text = f'"""{lines[0]}"""' if len(lines) == 1 else '"""' + "\n".join(lines) + '\n"""'
    return f"{head}\n{textwrap.indent(text, '    ')}\n"


def stub(name, rows):
    """One stub file."""
    body = "\n".join(function(row) for row in sorted(rows, key=lambda row: row["name"]))
    imports = []
    if "Callable[" in body:
        imports.append("from collections.abc import Callable")
    typing = [word for word in ("Any", NUMBER) if word in body]
    if typing:
        imports.append(f"from typing import {', '.join(typing)}")
    if "NDArray" in body:
        imports += ["", "from numpy.typing import NDArray"]
    if name == "acl":
        imports += ["", *(f"from . import {module} as {module}" for module in SUBMODULES)]
        body = "__version__: str\n__libascendcl__: str | None\n\n" + body
    return (
        f'"""{HEADS[name]}"""\n# Written by crates/python/gen_stubs.py. Do not edit.\n\n'
        + "\n".join(imports)
        + "\n\n"
        + body
    )


def files():
    """All stub files, by name, with their text."""
    made = {"py.typed": ""}
    for name, rows in contract().items():
        made[("__init__" if name == "acl" else name.partition(".")[2]) + ".pyi"] = stub(name, rows)
    for name in SUBMODULES:
        made.setdefault(f"{name}.pyi", f'"""Exists so that `import acl.{name}` works; empty."""\n')
    return made


def main():
    """Writes the files, or with --check tells which are not current."""
    parser = argparse.ArgumentParser(description="Write the type stubs of the acl module.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not current")
    check = parser.parse_args().check
    stale = []
    for name, text in files().items():
        path = STUBS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(("not current: " if check else "written: ") + ", ".join(stale))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
