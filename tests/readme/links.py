"""The pages of the documentation, and where their links lead."""

import re
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TOP = ("README.md", "README.zh-CN.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def pages(root):
    """Every page that people read."""
    return [root / name for name in TOP] + sorted((root / "docs").rglob("*.md"))


def prose(path):
    """The lines outside of fenced blocks."""
    lines, inside = [], False
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            lines.append(line)
    return lines


def anchors(path):
    """Anchors of the headings, as the usual web views make them."""
    found, times = set(), {}
    for line in prose(path):
        heading = re.match(r"^#+ (.*)$", line)
        if not heading:
            continue
        text = re.sub(r"[`*]", "", heading.group(1)).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = times.get(slug, 0)
        times[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def broken(path, root):
    """Relative links that lead nowhere, or out of the repository."""
    problems = []
    for line in prose(path):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"^[a-z]+:", target):
                continue
            place, _, anchor = target.partition("#")
            file = (path.parent / place).resolve() if place else path
            if root not in file.parents and file != root:
                problems.append(f"{target}: outside of the repository")
            elif not file.exists():
                problems.append(f"{target}: no such file")
            elif anchor and anchor not in anchors(file):
                problems.append(f"{target}: no such heading")
    return "\n".join(problems)
