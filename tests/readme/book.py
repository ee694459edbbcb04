"""The book in docs/: every page is a chapter, every function has an entry in the reference."""

import json
import re
from pathlib import Path

SUMMARY = "docs/SUMMARY.md"
REFERENCE = "docs/reference"
CHAPTER = re.compile(r"\[[^\]]+\]\(([^)\s]+\.md)\)")
HEADERS = ("acl/acl.h", "acl/acl_dump.h", "acl/acl_rt_allocator.h", "acl/acl_rt_memory_soma.h", "acl/acl_tdt.h")
MORE_HEADERS = ("acl/acl_tdt_queue.h", "acl/ops/acl_dvpp.h", "acl/dvpp/hi_dvpp.h")


def chapters(root):
    """The pages that the summary names, in order."""
    text = (root / SUMMARY).read_text(encoding="utf-8")
    return [(root / "docs" / name).resolve() for name in CHAPTER.findall(text)]


def loose_ends(root):
    """Pages in no chapter, chapters without a page, pages that are named twice."""
    named = chapters(root)
    pages = {path.resolve() for path in (root / "docs").rglob("*.md")} - {(root / SUMMARY).resolve()}
    problems = [f"{page.relative_to(root)}: in no chapter of {SUMMARY}" for page in sorted(pages - set(named))]
    problems += [f"{page.relative_to(root)}: no such page" for page in sorted(set(named) - pages)]
    problems += [f"{page.relative_to(root)}: named twice" for page in sorted({p for p in named if named.count(p) > 1})]
    return "\n".join(problems)


def code(path):
    """The C blocks of a page."""
    return "".join(re.findall(r"^```c\n(.*?)^```$", Path(path).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))


def declarations(root, path):
    """A C file that declares what a page declares, after the headers."""
    includes = "".join(f'#include "{name}"\n' for name in (*HEADERS, *MORE_HEADERS))
    return f"{includes}\n{code(path)}\nint declarations_are_compatible;\n"


def entries(root):
    """Functions of the contract without exactly one heading and one declaration in the reference."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((root / REFERENCE).glob("*.md")))
    headings = re.findall(r"^## (\w+)$", text, re.MULTILINE)
    declared = "".join(code(path) for path in sorted((root / REFERENCE).glob("*.md")))
    problems = []
    with open(root / "spec/functions.jsonl", encoding="utf-8") as lines:
        names = [json.loads(line)["name"] for line in lines]
    for name in names:
        if headings.count(name) != 1:
            problems.append(f"{name}: {headings.count(name)} entries")
        elif len(re.findall(rf"\b{name}\(", declared)) != 1:
            problems.append(f"{name}: its entry has no declaration, or several have one")
    return "\n".join(problems)


def check(root):
    """Yields the name of each check and what is wrong."""
    yield "every page is a chapter of the book", loose_ends(root)
    yield "every function has an entry in the reference", entries(root)
