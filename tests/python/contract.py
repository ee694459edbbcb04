"""The Python contract, and arguments that satisfy it."""

import importlib

from echo_library import rows

ROWS = rows("pyacl.jsonl")
BY_NAME = {row["name"]: row for row in ROWS}

# Arguments that may be left out: how few a call may have.
FEWEST = {"acl.init": 0, "acl.rt.set_exception_info_callback": 0, "acl.rt.get_group_count": 0}
# Takes any number of arguments and ignores them.
ANY_NUMBER = "acl.finalize"

NUMBERS = {"u64w", "u32w", "u16w", "i32", "i64"}


def find(name):
    """The function of a row."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)


def kind(row, arg):
    """The conversion of an argument; the few rows that do not say it are plain from their type."""
    if arg.get("conv"):
        return arg["conv"]
    if arg["type"] == "int":
        return "u32w" if arg["name"] in ("num_blocks", "dev_id") else "u64w"
    return "list"


def argument(row, arg, number):
    """A value that the argument accepts, different for each position."""
    conversion = kind(row, arg)
    if conversion in NUMBERS:
        return number
    if conversion == "f32":
        return float(number)
    if conversion == "str":
        return f"text {number}"
    if conversion == "dict":
        return {}
    if conversion == "list":
        return {
            "list of int": [number, number + 100],
            "list of [lo,hi]": [[number, number + 100]],
            "list of dict": [],
        }[arg["type"]]
    return {
        "callable": len,
        "callable or None": None,
        "list": [],
        "list (any object or None)": None,
        "bytes": b"payload",
        "tuple of int": (0,),
    }.get(arg["type"])


def arguments(row):
    """Arguments for a call that reaches the library, numbered from 11 on."""
    return [argument(row, arg, 11 + position) for position, arg in enumerate(row["args"])]
