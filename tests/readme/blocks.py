"""The fenced blocks of a page, and the comments above them."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

MARK = re.compile(r"^<!-- (test|file|output|doctest)(?:: (.*))? -->$")
FENCE = re.compile(r"^```(\w*)$")
FILE_NAME = re.compile(r"^(?:/\* | ?# ?|// )([\w./-]+\.(?:c|cpp|h|rs|py|txt|toml|ini|sh|yml))(?: \*/)?$")
ELLIPSIS = "..."
# What can be run, or be written to a file for something that runs.
CODE = {"c", "cpp", "python", "rust", "sh", "console", "cmake", "toml", "ini", "yaml"}


@dataclass
class Block:
    """One fenced block."""

    line: int
    language: str
    body: str
    kind: str = ""
    argument: str = ""

    @property
    def test(self):
        """Whether it is to be run."""
        return self.kind == "test"

    @property
    def command(self):
        """The command whose output it shows."""
        return self.argument if self.kind == "output" else ""

    @property
    def file_name(self):
        """The file that its first line names."""
        found = FILE_NAME.match(self.body.split("\n", 1)[0])
        return found.group(1) if found else ""

    def missing_tool(self):
        """The command that it needs and that is not installed."""
        word, _, tool = self.argument.partition(" ")
        return tool if word == "needs" and not shutil.which(tool) else ""

    def options(self):
        """Options of `cannery run` for it."""
        word, _, options = self.argument.partition(" ")
        return options.split() if word == "with" else []


def read(path):
    """All blocks of a page, in order."""
    found, mark, inside = [], ("", ""), None
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if inside is not None:
            if line == "```":
                found.append(inside)
                inside = None
            else:
                inside.body += line + "\n"
            continue
        fence, comment = FENCE.match(line), MARK.match(line)
        if fence:
            inside = Block(number, fence.group(1), "", *mark)
        mark = (comment.group(1), comment.group(2) or "") if comment else ("", "")
    if inside is not None:
        raise SystemExit(f"{path}:{inside.line}: this block never ends")
    return found


def difference(shown, output):
    """What a page shows and the output lacks; empty when all is there."""
    groups = [[]]
    for line in shown.splitlines():
        if line.strip() == ELLIPSIS:
            groups.append([])
        else:
            groups[-1].append(line.rstrip())
    lines = [line.rstrip() for line in output.splitlines()]
    at = 0
    for group in filter(None, groups):
        places = range(at, len(lines) - len(group) + 1)
        start = next((n for n in places if lines[n : n + len(group)] == group), None)
        if start is None:
            wanted = "\n".join(group)
            return f"the output lacks these lines (after line {at}):\n{wanted}\n--- output ---\n{output}"
        at = start + len(group)
    return ""


def session(body):
    """The commands of a `console` block (after `$ `), each with the lines that it shows."""
    steps = []
    for line in body.splitlines():
        if line.startswith("$ "):
            steps.append([line[2:], ""])
        elif steps:
            steps[-1][1] += line + "\n"
    return steps


def compare(first, second):
    """Where the blocks of two pages differ; empty when they do not."""
    one, two = read(first), read(second)
    for a, b in zip(one, two):
        if (a.language, a.body, a.kind, a.argument) != (b.language, b.body, b.kind, b.argument):
            return f"{first.name}:{a.line} and {second.name}:{b.line} differ"
    if len(one) != len(two):
        return f"{first.name} has {len(one)} blocks, {second.name} {len(two)}"
    return ""
