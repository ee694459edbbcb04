"""Tests in a process of their own.

A runtime is process-wide state, so a test that initialises it, forks, or needs
other settings runs in a fresh interpreter:

    @isolated(env={"CANNERY_DEVICES": "2"})
    def test_something():
        import acl
        ...

The child sees the module of the prefix and nothing else of this machine's
Ascend or Cannery settings. With `echo=True` it gets the library that tells how
it was called (`echo_library`) in place of the real one.
"""

import atexit
import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import echo_library

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix"))
TIME_LIMIT = 120


@functools.cache
def scratch():
    """A directory for this test run."""
    place = Path(tempfile.mkdtemp(prefix="cannery-python-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@functools.cache
def echo_directory():
    """Where the echo library is, built on first use."""
    place = scratch() / "echo"
    place.mkdir()
    echo_library.build(place)
    return place


def child_environment(env=None, *, echo=False, module_directory=None):
    """The environment of a child process."""
    foreign = ("ASCEND", "CANNERY_", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    module = Path(module_directory or PREFIX / "python")
    environment["PYTHONPATH"] = os.pathsep.join([str(module), str(HERE)])
    environment["CANNERY_RUNTIME_DIR"] = str(scratch())
    if echo:
        environment["LD_LIBRARY_PATH"] = str(echo_directory())
    environment.update(env or {})
    return environment


def run(*arguments, env=None, echo=False, check=True, **options):
    """Runs this Python with `arguments`; returns the finished process."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", *arguments],
        env=child_environment(env, echo=echo),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
        **options,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def isolated(function=None, *, env=None, echo=False):
    """Makes a test function run in a child process; arguments are passed on as literals."""
    if function is None:
        return functools.partial(isolated, env=env, echo=echo)

    @functools.wraps(function)
    def test(**arguments):
        call = f"import {function.__module__} as tests; tests.{function.__name__}.inside(**{arguments!r})"
        run("-c", call, env=env, echo=echo)

    test.inside = function
    return test


@contextlib.contextmanager
def raises(kind, match=""):
    """`pytest.raises` for child processes, which start without pytest."""
    try:
        yield
    except kind as error:
        assert type(error) is kind, f"{type(error).__name__}, not {kind.__name__}: {error}"
        assert re.search(match, str(error)), f"{match!r} is not in {error}"
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
