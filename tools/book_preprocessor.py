#!/usr/bin/env python3
"""A preprocessor of mdBook: links that leave docs/ become the path that they name, without a link.

The pages are read in the repository too, where such links work; the book has only docs/. Also takes
the marks of the tests (comments above code blocks) out. Reads [context, book] from standard input and
writes the book. Needs only the standard library.
"""

import json
import posixpath
import re
import sys

LINK = re.compile(r"\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
MARK = re.compile(r"^<!-- (?:test|file|output)(?::.*)? -->\n", re.MULTILINE)


def outside(chapter, target):
    """The path from the root of the repository, when the link leaves docs/; else None."""
    if re.match(r"^[a-z]+:", target) or target.startswith("#"):
        return None
    folder = posixpath.join("docs", posixpath.dirname(chapter))
    path = posixpath.normpath(posixpath.join(folder, target.partition("#")[0]))
    return None if path.startswith("docs/") else path


def rewrite(text, chapter):
    """A page for the book."""

    def replace(found):
        path = outside(chapter, found[2])
        if path is None:
            return found[0]
        words = found[1]
        return f"`{path}`" if words.strip("`") in (path, found[2]) else f"{words} (`{path}`)"

    parts = re.split(r"(^```.*?^```$)", MARK.sub("", text), flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)


def visit(items):
    """Rewrites all chapters, in place."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            if chapter.get("path"):
                chapter["content"] = rewrite(chapter["content"], chapter["path"])
            visit(chapter["sub_items"])


def main():
    """As mdBook calls it: `supports RENDERER`, or a book on standard input."""
    if sys.argv[1:2] == ["supports"]:
        return 0
    _, book = json.load(sys.stdin)
    visit(book.get("sections", book.get("items", [])))
    json.dump(book, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
