#!/usr/bin/env python3
"""Writes the tables of the Python package `cannery`: enums.py, codes.py with its
translation, and functions.py, from spec/ and knowledge/.

usage: gen_python.py [--check]. Needs only the standard library.
"""

import json
import sys
from pathlib import Path

from gen_common import emit, load
from gen_subjects import ENUMS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "crates" / "python" / "package" / "cannery"

# Class -> (base, enum of the contract, prefix of its names). What the package's functions take and give.
CLASSES = {
    "DataType": ("IntEnum", "aclDataType", "ACL_"),
    "EventFlag": ("IntFlag", "define:ACL_EVENT_*", "ACL_EVENT_"),
    "MallocPolicy": ("IntFlag", "aclrtMemMallocPolicy", "ACL_MEM_"),
    "MemAttr": ("IntEnum", "aclrtMemAttr", "ACL_"),
    "MemcpyKind": ("IntEnum", "aclrtMemcpyKind", "ACL_MEMCPY_"),
    "MemLocationType": ("IntEnum", "aclrtMemLocationType", "ACL_MEM_LOCATION_TYPE_"),
    "RunMode": ("IntEnum", "aclrtRunMode", "ACL_"),
    "StreamFlag": ("IntFlag", "define:ACL_STREAM_*", "ACL_STREAM_"),
}
SUMMARIES = {
    "define:ACL_EVENT_*": "What an event can do.",
    "define:ACL_STREAM_*": "How a stream is made.",
}
WIDTH = 120
NOTE = "# Written by tools/gen_python.py. Do not edit."


def quoted(text):
    """A Python string, as ruff writes it."""
    quote = "'" if '"' in text and "'" not in text else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


def tuple_of(items):
    """Lines of a tuple inside of an entry, as ruff writes it."""
    if not items:
        return ["        (),"]
    line = f"        ({quoted(items[0])},),"
    if len(items) == 1 and len(line) <= WIDTH:
        return [line]
    return ["        (", *(f"            {quoted(item)}," for item in items), "        ),"]


def enums():
    """The text of enums.py."""
    rows = load("enums")
    lines = ['"""The numbers of the interface, with names."""', "", NOTE, "from enum import IntEnum, IntFlag", ""]
    lines += ["__all__ = [", *(f"    {quoted(name)}," for name in sorted(CLASSES)), "]", ""]
    for name, (base, enum, prefix) in sorted(CLASSES.items()):
        summary = ENUMS[enum][1] if enum in ENUMS else SUMMARIES[enum]
        lines += ["", f"class {name}({base}):", f'    """{summary}"""', ""]
        for row in rows:
            if row["enum"] != enum:
                continue
            member = row["name"].removeprefix(prefix).removeprefix("MALLOC_")
            lines += [f"    {member} = {row['value']}"]
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def codes(language):
    """The text of codes.py, or of its translation."""
    told = {row["code"]: row[language] for row in load_knowledge("codes")}
    lines = [
        '"""What each return code is called, means, and asks for. Read when something failed."""',
        "",
        NOTE,
        "CODES: dict[int, tuple[str, str, tuple[str, ...], str]] = {",
    ]
    rows = [row for row in load("errors") if row["value"]]
    # A value with an old and a new name is told by the new one.
    named = {row["value"]: row for row in sorted(rows, key=lambda row: not row.get("deprecated"))}
    for _, row in sorted(named.items()):
        text = told[row["value"]]
        lines.append(f"    {row['value']}: (")
        lines += [f"        {quoted(part)}," for part in (row["name"], text["meaning"])]
        lines += tuple_of(text["causes"])
        lines += [f"        {quoted(text['remedy'])},", "    ),"]
    return "\n".join([*lines, "}", ""])


def functions():
    """The text of functions.py."""
    lines = [
        '"""What the contract tells of each function that Python can call. Read when something failed."""',
        "",
        NOTE,
        "# By name in Python: name in C, chapter, page of the manual, products that lack it, rules.",
        "FUNCTIONS: dict[str, tuple[str, str, str, tuple[str, ...], tuple[str, ...]]] = {",
    ]
    named = {name: row for row in load_knowledge("functions") for name in row["python"]}
    for name, row in sorted(named.items()):
        lines.append(f"    {quoted(name)}: (")
        lines += [f"        {quoted(row[key])}," for key in ("function", "chapter", "manual")]
        lacking = [product for product, has in row["products"].items() if has is False]
        lines += tuple_of(lacking) + tuple_of([rule["text"] for rule in row["rules"]])
        lines.append("    ),")
    return "\n".join([*lines, "}", ""])


def load_knowledge(table):
    """A table that the tool and the documentation read as well."""
    with (ROOT / "knowledge" / (table + ".jsonl")).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main():
    """Writes the files, or checks them."""
    return emit(
        {
            PACKAGE / "enums.py": enums(),
            PACKAGE / "codes.py": codes("en"),
            PACKAGE / "codes_zh.py": codes("zh"),
            PACKAGE / "functions.py": functions(),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
