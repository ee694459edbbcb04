#!/usr/bin/env python3
"""Writes docs/smi.svg, the picture of the README: a terminal, and what it really showed.

Two programs hold memory of one emulated card, `cannery smi` shows them, and a third one gets no memory.
The processes are real; their numbers differ from run to run.

    tools/make_picture.py            writes the picture
    tools/make_picture.py --check    exit code 1 when the committed picture shows something else
                                     (process numbers aside)

Needs the prefix (CANNERY_PREFIX, else target/prefix), a C compiler and the standard library.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix")).resolve()
PICTURE = ROOT / "docs" / "smi.svg"
COLUMNS, LETTER, LINE, EDGE = 98, 8.43, 18, 16
CARD = ("--hbm", "8G")

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "acl/acl.h"

/* Takes as many MiB as its argument says, says so, and holds them until its input ends. */
int main(int count, char **arguments)
{
    size_t bytes = (size_t)(count > 1 ? atol(arguments[1]) : 0) << 20;
    void *block = NULL;

    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 ||
        aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        puts(aclGetRecentErrMsg());
        return 1;
    }
    puts("held");
    fflush(stdout);
    getchar();
    return aclrtFree(block);
}
"""


def session():
    """What was typed, and what came: pairs of a command and its output."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "hold.c").write_text(PROGRAM, encoding="utf-8")
        for name in ("train", "serve", "eval"):
            compiler = [*os.environ.get("CC", "cc").split(), str(place / "hold.c"), "-o", str(place / name)]
            link = [f"-I{PREFIX / 'include'}", f"-L{PREFIX / 'lib64'}", "-lascendcl"]
            subprocess.run([*compiler, *link], check=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CANNERY_")}
        environment = {**clean, "CANNERY_RUNTIME_DIR": str(place / "runtime")}
        tool = [str(PREFIX / "bin" / "cannery")]
        run = [*tool, "run", "--quiet", *CARD, "--"]
        holders = []
        for name, size in (("train", 5000), ("serve", 1200)):
            command = [*run, str(place / name), str(size)]
            holder = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            holders.append(holder)
            if holder.stdout.readline() != "held\n":
                raise SystemExit(f"make_picture: {name} got no memory")
        smi = subprocess.run([*tool, "smi", *CARD], capture_output=True, text=True, check=True, env=environment)
        last = subprocess.run(
            [*run, str(place / "eval"), "3000"], capture_output=True, text=True, check=False, env=environment
        )
        for holder in holders:
            holder.communicate("\n")
        if last.returncode != 1:
            raise SystemExit("make_picture: the third program was to get no memory")
    options = " ".join(CARD)
    return [
        (f"cannery run {options} -- ./train 5000 &", ""),
        (f"cannery run {options} -- ./serve 1200 &", ""),
        (f"cannery smi {options}", smi.stdout),
        (f"cannery run {options} -- ./eval 3000", last.stdout),
    ]


def lines(shown):
    """The lines of the terminal: text, and whether it was typed."""
    out = []
    for command, output in shown:
        out.append((f"$ {command}", True))
        for line in output.splitlines():
            pieces = textwrap.wrap(line, COLUMNS, break_on_hyphens=False) if len(line) > COLUMNS else [line]
            out.extend((piece, False) for piece in pieces)
    return out


def picture(shown):
    """The picture as SVG."""
    rows = lines(shown)
    width, height = round(COLUMNS * LETTER + 2 * EDGE), len(rows) * LINE + 2 * EDGE
    title = "cannery smi: two processes on one emulated card, and a third that gets no memory"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{title}">\n',
        f"<title>{title}</title>\n",
        f'<rect width="{width}" height="{height}" rx="8" fill="#16191d"/>\n',
        '<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">\n',
    ]
    for number, (text, typed) in enumerate(rows):
        colour = "#8ad7a0" if typed else "#d8dee6"
        place = f'x="{EDGE}" y="{EDGE + 14 + number * LINE}"'
        fit = f' textLength="{len(text) * LETTER:.1f}" lengthAdjust="spacingAndGlyphs"' if text else ""
        out.append(f'<text {place} fill="{colour}" xml:space="preserve"{fit}>{html.escape(text)}</text>\n')
    return "".join(out) + "</g>\n</svg>\n"


def words(svg):
    """The words of a picture, without process numbers: what does not differ from run to run."""
    text = html.unescape(" ".join(re.findall(r">([^<]*)</text>", svg)))
    text = re.sub(r"\bpid \d+", "pid", re.sub(r"(\| 0\s+\d+ +\| )\d+ ", r"\1", text))
    return text.split()


def main():
    """Writes or compares."""
    if sys.argv[1:] not in ([], ["--check"]):
        print("usage: make_picture.py [--check]", file=sys.stderr)
        return 2
    new = picture(session())
    if sys.argv[1:]:
        old = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
        if words(old) != words(new):
            print(f"{PICTURE.relative_to(ROOT)} shows something else: run tools/make_picture.py")
            return 1
        return 0
    PICTURE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
