#!/usr/bin/env python3
"""Follows the README to the letter, as somebody who has never seen the project.

A fresh clone of the committed state in a new directory, a bare environment (nothing of this shell but
where compilers, Python and cargo are; a new HOME), and then everything that README.md says, in its
order: the commands of its text, its programs written to the files that their first lines name, its shell
blocks one after the other in one directory. Outputs that it shows must come.

Prints the time of each step, and of all without building. Ends with `N passed, N failed`.

    newcomer.py                the whole walk; builds in release mode, which takes minutes
    newcomer.py --built DIR    begins with a copy of this target directory, so that less is built
    newcomer.py --record       writes the times into docs/performance.md
    newcomer.py --readme FILE  another README of the clone

Needs git and what the README says.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "readme"))
import blocks

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = "docs/performance.md"
BEGIN, END = "<!-- newcomer -->", "<!-- end of newcomer -->"
# What a machine has been set up with: where compilers are, and how they reach their packages.
KEPT = re.compile(r"PATH|CC|CXX|(RUSTUP|CARGO|PIP|SSL|HTTPS?|NO)_\w+|https?_proxy|no_proxy")
COMMAND = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
LIMIT = 3600


def environment(home):
    """A bare environment."""
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    real = Path.home()
    kept.setdefault("RUSTUP_HOME", str(real / ".rustup"))
    kept.setdefault("CARGO_HOME", str(real / ".cargo"))
    for name in [name for name in kept if name.startswith(("CARGO_TARGET", "CARGO_BUILD"))]:
        del kept[name]
    return {**kept, "HOME": str(home), "USER": "newcomer", "LANG": "C.UTF-8", "TERM": "dumb"}


class Walk:
    """A directory, an environment, and what was found."""

    def __init__(self, clone, variables):
        self.clone, self.variables = clone, variables
        self.passed = self.failed = 0
        self.times = []

    def run(self, title, command, building=False):
        """Runs a command as it is typed into a shell; its output."""
        started = time.monotonic()
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", command],
            cwd=self.clone,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        seconds = time.monotonic() - started
        self.times.append((title, seconds, building))
        self.judge(
            f"{title} ({seconds:.1f} s)", "" if done.returncode == 0 else f"exit {done.returncode}\n{done.stdout}"
        )
        return done.stdout

    def judge(self, title, problem):
        """Counts and prints."""
        print(f"{'FAILED' if problem else 'ok    '} {title}", flush=True)
        if problem:
            print("    " + problem.strip().replace("\n", "\n    ")[-4000:], flush=True)
        self.failed += bool(problem)
        self.passed += not problem

    def seconds(self):
        """The time of all steps but building."""
        return sum(seconds for _, seconds, building in self.times if not building)


def follow(walk, readme):
    """Everything that the README says, in its order."""
    text = (walk.clone / readme).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    commands = COMMAND.findall(prose)
    walk.judge("the README has a first command", "" if commands else "no indented line in it")
    shown = ""
    for command in commands:
        if command == "make demo":
            # The same in two steps, to tell building from the rest.
            walk.run("make build", "make build", building=True)
        shown += walk.run(command, command)
    page = blocks.read(walk.clone / readme)
    for block in page:
        if block.kind in ("test", "file") and block.file_name:
            (walk.clone / block.file_name).write_text(block.body, encoding="utf-8")
    for block in page:
        if block.command:
            walk.judge(f"output at line {block.line}", blocks.difference(block.body, shown))
        elif block.language == "sh" and block.test:
            if block.missing_tool():
                print(f"left out line {block.line}: there is no {block.missing_tool()} here")
            else:
                walk.run(f"shell block at line {block.line}", block.body)


def record(walk):
    """Writes the times into the page."""
    rows = "".join(
        f"| {title}{' (not counted)' if building else ''} | {seconds:.1f} s |\n"
        for title, seconds, building in walk.times
    )
    page = ROOT / PAGE
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = f"| step | time |\n|---|---:|\n{rows}| all but building | {walk.seconds():.1f} s |\n"
    page.write_text(f"{before}{BEGIN}\n\n{table}\n{END}{after}", encoding="utf-8")


def main():
    """Clones, follows, tells."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--built", type=Path, help="a target directory to begin with")
    parser.add_argument("--readme", default="README.md")
    parser.add_argument("--record", action="store_true", help=f"write the times into {PAGE}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        place = Path(folder)
        (place / "home").mkdir()
        walk = Walk(place, environment(place / "home"))
        walk.run("git clone", f"git clone --quiet '{ROOT}' cannery")
        walk.clone = place / "cannery"
        if not walk.clone.is_dir():
            return 1
        if options.built:
            shutil.copytree(options.built, walk.clone / "target", symlinks=True)
        follow(walk, options.readme)
        left = walk.run("git status", "git status --porcelain --untracked-files=no")
        walk.judge("the walk changes no file of the project", left)
        if options.record:
            record(walk)
    print(f"all but building: {walk.seconds():.1f} s")
    print(f"{walk.passed} passed, {walk.failed} failed")
    return 1 if walk.failed else 0


if __name__ == "__main__":
    sys.exit(main())
