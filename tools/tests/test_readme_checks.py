"""The checks of the documentation must notice what is wrong."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "readme"))
import blocks
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
