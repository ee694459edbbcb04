"""The runner must notice every kind of failure: it decides what passes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import run_tests
from run_tests import Count, Suite

CARGO = """
running 2 tests
test result: ok. 18 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: FAILED. 5 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.25s
"""


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    """Keeps the logs of these trials apart."""
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)


def outcome(script, reader, limit=60):
    """What the runner makes of a shell script's output and exit code."""
    suite = Suite("trial", ["sh", "-c", script], reader, limit=limit)
    return run_tests.run(suite)[0]


def test_cargo_programs_are_added_up():
    assert run_tests.cargo_test(CARGO, 101) == Count(23, 1, 2)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("12 passed in 0.53s", Count(12, 0)),
        ("==== 1 failed, 12 passed, 3 skipped in 65.32s (0:01:05) ====", Count(12, 1, 3)),
        ("2 failed, 1 passed, 1 error in 1.00s", Count(1, 3)),
        ("1 passed, 2 warnings, 2 errors in 1.00s", Count(1, 2)),
        ("4 passed, 1 xpassed in 1.00s", Count(4, 1)),
        ("no tests ran in 0.01s", Count()),
        ("", Count()),
    ],
)
def test_pytest_summaries(line, count):
    assert run_tests.pytest(f"noise\n{line}\n", 0) == count


def test_the_last_plain_line_counts():
    assert run_tests.plain_line("1 passed, 0 failed\nnoise\n7 passed, 2 failed\n", 1) == Count(7, 2)


def test_a_suite_that_passes():
    assert outcome("echo 3 passed, 0 failed", run_tests.plain_line) == Count(3, 0)


def test_a_suite_that_runs_nothing_has_failed():
    assert outcome("echo hello", run_tests.plain_line) == Count(0, 1)
    assert outcome("echo 0 passed, 0 failed", run_tests.plain_line) == Count(0, 1)


def test_a_suite_that_breaks_after_its_count_has_failed():
    assert outcome("echo 3 passed, 0 failed; exit 3", run_tests.plain_line) == Count(3, 1)
    assert outcome("echo 3 passed, 0 failed; kill -SEGV $$", run_tests.plain_line) == Count(3, 1)


def test_a_suite_that_does_not_build_has_failed():
    assert outcome("echo 'error: could not compile'; exit 101", run_tests.cargo_test) == Count(0, 1)


def test_a_suite_that_hangs_is_stopped():
    assert outcome("echo 3 passed, 0 failed; sleep 60", run_tests.plain_line, limit=1) == Count(3, 1)


def test_a_missing_command_has_failed():
    suite = Suite("trial", ["no-such-command-here"], run_tests.exit_status)
    assert run_tests.run(suite)[0] == Count(0, 1)


def test_checks_without_a_count_are_one_test():
    assert outcome("true", run_tests.exit_status) == Count(1, 0)
    assert outcome("false", run_tests.exit_status) == Count(0, 1)


def test_a_failure_is_shown_wherever_it_stands(tmp_path, capsys):
    log = tmp_path / "long.log"
    log.write_text("\n".join([*["fine"] * 500, "test a::b ... FAILED", "the reason", *["fine"] * 500]))
    run_tests.show_failure(log)
    shown = capsys.readouterr().out
    assert "a::b ... FAILED" in shown
    assert "the reason" in shown
    assert len(shown.splitlines()) < 60
