"""The checks of the built book and the newcomer's walk must notice what is wrong."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "book"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "newcomer"))
import browser
import check_book
import make_picture
import newcomer


def test_broken_links_of_built_pages_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(check_book, "BOOK", tmp_path)
    text = '<a href="b.html#there">x</a><a href="b.html#gone">x</a><img src="no.png"><a href="../out.html">x</a>'
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    (tmp_path / "b.html").write_text('<h2 id="there">y</h2>', encoding="utf-8")
    (tmp_path.parent / "out.html").write_text("", encoding="utf-8")
    parsed = {name: check_book.Page(tmp_path / name) for name in ("a.html", "b.html")}
    problems = check_book.broken_links(parsed, "a.html").splitlines()
    assert problems == ["b.html#gone: no such anchor", "no.png: no such file", "../out.html: no such file"]
    assert not check_book.broken_links(parsed, "b.html")


def test_a_page_that_is_too_wide_or_empty_is_noticed():
    good = {"letters": 500, "width": 390, "scroll": 390, "wide": [], "images": []}
    assert not browser.judge(good)
    assert "411 pixels wide" in browser.judge({**good, "scroll": 411})
    assert "beyond the edge: P x" in browser.judge({**good, "wide": ["P x"]})
    assert "only 3 letters" in browser.judge({**good, "letters": 3})
    assert "does not load" in browser.judge({**good, "images": ["a.png"]})


README = """\
# A project

    echo made

<!-- output: whatever -->
```text
made
```

<!-- test -->
```python
# one.py
print("one")
```

<!-- test -->
```sh
test "$(python3 one.py)" = one
test -z "${SECRET:-}"
```
"""


def walk(tmp_path, text, monkeypatch):
    """What a newcomer finds with this README."""
    monkeypatch.setenv("SECRET", "of the shell that tests")
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    found = newcomer.Walk(tmp_path, newcomer.environment(tmp_path))
    newcomer.follow(found, "README.md")
    return found.passed, found.failed


def test_a_newcomer_follows_the_readme(tmp_path, monkeypatch):
    assert walk(tmp_path, README, monkeypatch) == (4, 0)


def test_a_newcomer_notices_what_does_not_work(tmp_path, monkeypatch):
    assert walk(tmp_path, README.replace("echo made", "false"), monkeypatch) == (2, 2)
    assert walk(tmp_path, README.replace("print", "raise SystemExit"), monkeypatch) == (3, 1)
    assert walk(tmp_path, README.replace("    echo made\n", ""), monkeypatch) == (1, 2)


def test_a_newcomer_has_nothing_of_this_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("CANNERY_PROFILE", "950")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere")
    variables = newcomer.environment(tmp_path)
    assert variables["HOME"] == str(tmp_path) and variables["PATH"] == os.environ["PATH"]
    assert not {"CANNERY_PROFILE", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV"} & set(variables)


def test_process_numbers_do_not_count_in_the_picture():
    line = "| 0       0                 | {}          | train"
    one = make_picture.picture([("smi", line.format(4378) + "\nheld by pid 4378 (train)")])
    two = make_picture.picture([("smi", line.format(99) + "\nheld by pid 99 (train)")])
    other = make_picture.picture([("smi", line.format(99) + "\nheld by pid 99 (serve)")])
    assert one != two and make_picture.words(one) == make_picture.words(two) != make_picture.words(other)
