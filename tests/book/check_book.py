#!/usr/bin/env python3
"""Builds the book and looks at it.

* `mdbook build` says nothing of the level WARN or above.
* Every link of every built page leads to a file, and to an anchor in it.
* In headless Chromium, at desktop and at phone width, every page has its text, all its files load, and
  nothing is wider than the window. Without Chromium this part is left out, and said so.

Pictures of some pages are left in target/book-pictures. Ends with `N passed, N failed`. Needs mdbook
(MDBOOK, else target/tools/bin/mdbook) and the standard library.
"""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import browser

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MDBOOK = os.environ.get("MDBOOK", str(TARGET / "tools" / "bin" / "mdbook"))
BOOK = TARGET / "book"
PICTURES = TARGET / "book-pictures"
SHOWN = ("introduction.html", "architecture.html", "coverage.html", "reference/copy-and-set.html", "start/cpp.html")
# Not pages: the table of contents is a part of every page, 404.html is served at any depth.
PARTS = ("toc.html", "404.html")


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        link = attrs.get("href") or attrs.get("src")
        if link and tag != "base":
            self.links.append(link)


def build():
    """Builds the book; what is wrong."""
    shutil.rmtree(BOOK, ignore_errors=True)
    command = [MDBOOK, "build", "--dest-dir", str(BOOK), str(ROOT / "docs")]
    try:
        done = subprocess.run(command, cwd=ROOT / "docs", capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return f"no mdbook at {MDBOOK}: `make docs` installs it"
    said = done.stdout + done.stderr
    if done.returncode or re.search(r"\b(WARN|ERROR)\b|warning", said):
        return said or f"exit code {done.returncode}"
    (BOOK / "book.toml").unlink(missing_ok=True)  # copied with the pages
    return ""


def pages():
    """Every page, as a path below the book."""
    found = sorted(path.relative_to(BOOK).as_posix() for path in BOOK.rglob("*.html"))
    return [name for name in found if name not in PARTS]


def broken_links(parsed, name):
    """Links of a page that lead nowhere."""
    problems = []
    for link in parsed[name].links:
        if re.match(r"^[a-z]+:", link):
            continue
        place, _, anchor = unquote(link).partition("#")
        file = (BOOK / name).parent / place if place else BOOK / name
        file = file.resolve()
        if not file.is_file() or BOOK.resolve() not in file.parents:
            problems.append(f"{link}: no such file")
            continue
        target = parsed.get(file.relative_to(BOOK.resolve()).as_posix())
        if anchor and target and anchor not in target.anchors:
            problems.append(f"{link}: no such anchor")
    return "\n".join(problems)


class Report:
    """Counts, and prints a line for each thing that was looked at."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, name, problem):
        """`problem` is empty when all is well."""
        print(f"{'FAILED' if problem else 'ok    '} {name}", flush=True)
        if problem:
            print("    " + problem.strip().replace("\n", "\n    "), flush=True)
        self.failed += bool(problem)
        self.passed += not problem


def main():
    """Checks everything."""
    report = Report()
    report("the book builds without warnings", build())
    if report.failed:
        print(f"{report.passed} passed, {report.failed} failed")
        return 1
    names = pages()
    parsed = {name: Page(BOOK / name) for name in names}
    for name in names:
        report(f"links of {name}", broken_links(parsed, name))
    chromium = browser.find()
    if chromium:
        for title, problem in browser.look(chromium, BOOK, names):
            report(title, problem)
        browser.photograph(chromium, BOOK, SHOWN, PICTURES)
        print(f"pictures: {os.path.relpath(PICTURES)}")
    else:
        print("left out: there is no chromium here to look at the pages")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
