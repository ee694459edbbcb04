#!/usr/bin/env python3
"""Writes knowledge/functions.jsonl from spec/, and checks the parts that are written by hand.

knowledge/ is one table that `cannery explain`, programs and documentation read: codes.jsonl (return
codes), messages.jsonl (message codes) and phrases.jsonl (texts of the runtime) are written by hand, in
English and Chinese; functions.jsonl is made here. With --check also tells what the tables lack: every return code,
message code and function of the contract must have its line, in both languages.

    tools/gen_knowledge.py           writes the functions
    tools/gen_knowledge.py --check   exit code 1 when they are stale, or an entry is missing or poor
"""

import json
import re
import sys

from gen_common import ROOT, emit, load

OUTPUT = "knowledge/functions.jsonl"
PRODUCTS = {
    "910": r"910(?!b)",
    "310p": r"310[pP]",
    "310b": r"310[bB]",
    "910b": r"910[bB]",
    "A3": r"A3",
    "950": r"950",
    "IPV350": r"IPV350",
}
# Codes that the texts of the runtime use and that the contract does not list.
OWN_MESSAGES = {"EH9999", "EL0004"}


def signature(row):
    """The declaration, on one line."""
    parts = [
        param["type"] if param["name"] in ("", "...") else f"{param['type']} {param['name']}".replace("* ", "*")
        for param in row["params"]
    ]
    return f"{row['returns']} {row['name']}({', '.join(parts) or 'void'})".replace("* ", "*")


def rule(text):
    """A constraint, and the products that it names."""
    names = [key for key, pattern in PRODUCTS.items() if re.search(rf"(?<![\w.]){pattern}(?![\w.])", text)]
    return {"products": names, "text": text}


def codes_of(row, by_name, values):
    """Return codes that the contract names for this function, in the order it names them."""
    text = " ".join([*row["header_errors"], *row["constraints"]])
    found = []
    for word in re.findall(r"\bACL_\w+|\b\d{6}\b", text):
        value = by_name.get(word) if word.startswith("ACL") else int(word)
        if value in values and value and value not in found:
            found.append(value)
    return found


def functions():
    """The lines of the table."""
    errors = [row for row in load("errors") if row.get("value") is not None]
    by_name = {row["name"]: row["value"] for row in errors}
    values = set(by_name.values())
    python = {}
    for row in load("pyacl"):
        python.setdefault(row.get("c_function"), []).append(row["name"])
    lines = []
    for row in load("functions"):
        entry = {
            "function": row["name"],
            "chapter": row["chapter"],
            "summary": row["summary"],
            "signature": signature(row),
            "header": row["header"],
            "python": python.get(row["name"], []),
            "products": row["products"],
            "rules": [rule(text) for text in row["constraints"]],
            "codes": codes_of(row, by_name, values),
            "experimental": row["experimental"],
            "deprecated": row["deprecated"],
            "manual": (row["doc"] or "").removeprefix("docs/zh/"),
        }
        lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    return "".join(lines)


def table(name):
    """The objects of a table written by hand."""
    with open(ROOT / "knowledge" / (name + ".jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def poor(key, entry, fields):
    """What is wrong with the words of an entry."""
    for language in ("en", "zh"):
        words = entry.get(language, {})
        for field in fields:
            text = words.get(field) or ""
            pieces = text if isinstance(text, list) else [text]
            if not pieces or not all(piece.strip() for piece in pieces):
                yield f"{key}: {language}.{field} is empty"
            elif language == "zh" and not all(re.search(r"[\u4e00-\u9fff]", piece) for piece in pieces):
                yield f"{key}: zh.{field} is not Chinese"
            elif language == "en" and any(re.search(r"[\u3000-\uffef]", piece) for piece in pieces):
                yield f"{key}: en.{field} has Chinese in it"
    if "causes" in fields and len(entry["en"]["causes"]) != len(entry["zh"]["causes"]):
        yield f"{key}: the languages differ in their causes"
    if entry.get("guide") and not (ROOT / "docs" / entry["guide"]).is_file():
        yield f"{key}: no page docs/{entry['guide']}"


def differing(what, found, wanted):
    """Names that one side lacks."""
    for name in sorted(set(wanted) - set(found)):
        yield f"{what} {name} has no line"
    for name in sorted(set(found) - set(wanted)):
        yield f"{what} {name} is not in the contract"
    for name in sorted({name for name in found if found.count(name) > 1}):
        yield f"{what} {name} has several lines"


def complaints():
    """Everything that the tables written by hand lack."""
    spec = load("errors")
    codes, messages = table("codes"), table("messages")
    wanted = [(row["value"], row["name"]) for row in spec if row.get("value") is not None]
    yield from differing("return code", [(row["code"], row["name"]) for row in codes], wanted)
    wanted = {row["name"] for row in spec if row.get("value") is None} | OWN_MESSAGES
    yield from differing("message code", [row["message"] for row in messages], wanted)
    values = {row["code"] for row in codes}
    for row in codes:
        yield from poor(row["name"], row, ("meaning", "causes", "remedy"))
    for row in messages:
        yield from poor(row["message"], row, ("meaning", "remedy"))
        for code in set(row["codes"]) - values:
            yield f"{row['message']}: {code} is no return code"


def phrase_complaints():
    """What is wrong with the phrases: places that do not fit, a value twice or lost, no Chinese."""
    seen = set()
    for row in table("phrases"):
        english, chinese = row["en"], row["zh"]
        places = sorted(int(place) for place in re.findall(r"\{(\d+)\}", chinese))
        if places != list(range(english.count("{}"))):
            yield f"phrase {english!r}: the Chinese has the values {places}"
        if english in seen:
            yield f"phrase {english!r} stands twice"
        if re.search(r"[\u3000-\uffef]", english) or not re.search(r"[\u3000-\uffef]", chinese):
            yield f"phrase {english!r}: the languages are mixed up"
        seen.add(english)


def main():
    """Writes or compares, and judges."""
    found = [*complaints(), *phrase_complaints()]
    for complaint in found:
        print(f"knowledge: {complaint}")
    return emit({OUTPUT: functions()}) or (1 if found else 0)


if __name__ == "__main__":
    sys.exit(main())
