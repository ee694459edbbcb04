"""The checks of the documentation must notice what is wrong."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "readme"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import blocks
import book
import book_preprocessor
import check_readme
import facts
import links

PAGE = """\
# A page

<!-- test -->
```c
/* one.c */
int main(void) { return 0; }
```

<!-- test: with --devices 2 -->
```python
# two.py
```

<!-- output: echo hello -->
```text
hello
```

```sh
not marked
```
"""


def page(tmp_path, text):
    """A page with this text."""
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_and_their_marks(tmp_path):
    one, two, three, four = blocks.read(page(tmp_path, PAGE))
    assert (one.language, one.test, one.file_name) == ("c", True, "one.c")
    assert (two.file_name, two.options()) == ("two.py", ["--devices", "2"])
    assert (three.command, three.test, three.body) == ("echo hello", False, "hello\n")
    assert not four.test and not four.command


def test_a_tool_that_is_missing_is_named(tmp_path):
    text = "<!-- test: needs no-such-tool -->\n```sh\nfalse\n```\n"
    assert blocks.read(page(tmp_path, text))[0].missing_tool() == "no-such-tool"


def test_shown_output_is_compared():
    assert not blocks.difference("a\nb\n", "x\na\nb\ny\n")
    assert not blocks.difference("a\n...\nc\n", "a\nb\nc\n")
    assert blocks.difference("a\nc\n", "a\nb\nc\n")  # not one after the other
    assert blocks.difference("c\n...\na\n", "a\nb\nc\n")  # not in this order
    assert blocks.difference("a\n", "")


def test_pages_that_differ_are_noticed(tmp_path):
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    first.write_text("```c\none\n```\n", encoding="utf-8")
    for other in ("```c\ntwo\n```\n", "```py\none\n```\n", "", "```c\none\n```\n" * 2):
        second.write_text(other, encoding="utf-8")
        assert blocks.compare(first, second)
    second.write_text("words\n```c\none\n```\n", encoding="utf-8")
    assert not blocks.compare(first, second)


def test_broken_links_are_noticed(tmp_path):
    (tmp_path / "other.md").write_text("# Two words\n", encoding="utf-8")
    good = "[a](other.md) [b](other.md#two-words) [c](#here) [d](https://example.org)\n# Here\n"
    assert not links.broken(page(tmp_path, good), tmp_path)
    for bad in ("missing.md", "other.md#three", "#nowhere", "../outside.md"):
        assert links.broken(page(tmp_path, f"[x]({bad})\n"), tmp_path)


def test_failing_blocks_are_counted(tmp_path, monkeypatch):
    text = (
        "<!-- test -->\n```sh\nexit 3\n```\n"
        "<!-- test -->\n```sh\ntrue\n```\n"
        "<!-- output: echo a -->\n```text\nb\n```\n"
        "<!-- test -->\n```cobol\n```\n"
    )
    monkeypatch.setattr(check_readme, "ROOT", tmp_path)
    report = check_readme.Report()
    check_readme.check_page(page(tmp_path, text), report)
    assert (report.passed, report.failed) == (1, 3)


def test_names_and_codes_are_compared(tmp_path):
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "spec").symlink_to(root / "spec")
    (tmp_path / "docs").mkdir()
    errors = tmp_path / "docs" / "errors.md"
    errors.write_text("| 107000 | ACL_ERROR_RT_PARAM_INVALID | x |\n", encoding="utf-8")
    assert not facts.codes(tmp_path)
    errors.write_text("| 107001 | ACL_ERROR_RT_PARAM_INVALID | x |\n", encoding="utf-8")
    assert facts.codes(tmp_path)
    errors.write_text("`aclrtMalloc` and `ACL_MEM_MALLOC_HUGE_FIRST`\n", encoding="utf-8")
    assert not facts.names(tmp_path, [errors])
    errors.write_text("`aclrtMallok`\n", encoding="utf-8")
    assert "aclrtMallok" in facts.names(tmp_path, [errors])


def test_sessions_are_cut_into_commands():
    assert blocks.session("$ one\na\nb\n$ two\n") == [["one", "a\nb\n"], ["two", ""]]


def test_a_command_of_a_session_that_shows_something_else_is_noticed(tmp_path):
    block = blocks.Block(1, "console", "$ echo hello\nhello\n", "test")
    assert not check_readme.run_console(block, tmp_path)
    block.body = "$ echo hello\ngoodbye\n"
    assert "goodbye" in check_readme.run_console(block, tmp_path)
    block.body = "hello\n"
    assert check_readme.run_console(block, tmp_path)


def repository(tmp_path, summary, pages):
    """A repository with these pages and one function."""
    for name, text in {"SUMMARY.md": summary, **pages}.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec/functions.jsonl").write_text('{"name": "aclOne"}\n', encoding="utf-8")
    return tmp_path


def test_a_page_in_no_chapter_is_noticed(tmp_path):
    root = repository(tmp_path, "[A](a.md)\n- [B](b.md)\n- [A](a.md)\n", {"a.md": "", "c/d.md": ""})
    problems = book.loose_ends(root)
    assert "docs/c/d.md: in no chapter" in problems
    assert "docs/b.md: no such page" in problems
    assert "docs/a.md: named twice" in problems


def test_a_function_without_an_entry_is_noticed(tmp_path):
    entry = "## aclOne\n\n```c\nint aclOne(void);\n```\n"
    root = repository(tmp_path, "", {"reference/one.md": entry})
    assert not book.entries(root)
    (root / "docs/reference/one.md").write_text("## aclOne\n", encoding="utf-8")
    assert "no declaration" in book.entries(root)
    (root / "docs/reference/one.md").write_text("", encoding="utf-8")
    assert "aclOne: 0 entries" in book.entries(root)


def test_links_out_of_the_book_become_paths():
    rewrite = book_preprocessor.rewrite
    assert rewrite("[a](b.md#c) [d](#e)", "x.md") == "[a](b.md#c) [d](#e)"
    assert rewrite("[a](../b.md)", "x/y.md") == "[a](../b.md)"
    assert rewrite("[the header](../include/a.h)", "x.md") == "the header (`include/a.h`)"
    assert rewrite("[`../b.md`](../b.md)", "x.md") == "`b.md`"
    assert rewrite("<!-- test -->\n```md\n[a](../b)\n```\n", "x.md") == "```md\n[a](../b)\n```\n"
