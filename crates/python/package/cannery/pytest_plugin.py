"""pytest on emulated NPUs: options that describe the machine, and the fixture ``npu``.

    pytest --cannery-profile 910B --cannery-devices 2

A test that asks for ``npu`` begins with a device and a context of its own, and ends with a look for what
it left behind. Between tests the runtime is ended, so that none sees what another one did;
``--cannery-isolate process`` gives each a process of its own besides.
"""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import signal
import tempfile
import warnings
from collections.abc import Generator
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from . import Context, Device, Process

__all__ = ["LeakWarning", "Npu"]

# Option -> (setting of the library, what it takes, help).
_MACHINE = {
    "profile": ("CANNERY_PROFILE", "NAME", "product to emulate: 910B, 310P, A3, ..."),
    "devices": ("CANNERY_DEVICES", "N", "number of devices"),
    "hbm": ("CANNERY_HBM_BYTES", "SIZE", "memory of each device, such as 512M or 8G"),
    "schedule": ("CANNERY_SCHEDULE", "ORDER", "when queued work runs: fifo, eager, lazy, random:SEED"),
}
_LEAKS = ("fail", "warn", "ignore")
_ISOLATION = ("runtime", "process")
# Of the directories of runs.
_PREFIX = "cannery-pytest-"

_before: pytest.StashKey[dict[str, str | None]] = pytest.StashKey()
_directory: pytest.StashKey[str] = pytest.StashKey()
_failed: pytest.StashKey[bool] = pytest.StashKey()


class LeakWarning(UserWarning):
    """A test left memory behind (``--cannery-leaks warn``)."""


class Npu(NamedTuple):
    """What the fixture ``npu`` gives."""

    #: Device 0, current in the thread of the test.
    device: Device
    #: The context of this test, current as well.
    context: Context
    #: How many devices there are.
    devices: int


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, and the same as settings of the project's ini file."""
    group = parser.getgroup("cannery", "emulated NPUs (fixture: npu)")
    for name, (setting, takes, text) in _MACHINE.items():
        group.addoption(f"--cannery-{name}", metavar=takes, help=f"{text} ({setting})")
        parser.addini(f"cannery_{name}", text, default="")
    group.addoption("--cannery-leaks", choices=_LEAKS, help="what a test that leaks memory does (default: fail)")
    parser.addini("cannery_leaks", "what a test that leaks memory does", default="fail")
    group.addoption(
        "--cannery-isolate", choices=_ISOLATION, help="between tests, end the runtime or the process (default: runtime)"
    )
    parser.addini("cannery_isolate", "between tests, end the runtime or the process", default="runtime")


def _chosen(config: pytest.Config, name: str) -> str:
    """An option, else the setting of the ini file, else nothing."""
    return str(config.getoption(f"cannery_{name}") or config.getini(f"cannery_{name}") or "")


def pytest_configure(config: pytest.Config) -> None:
    """Describes the machine to the library, before a test can start it."""
    for name, allowed in (("leaks", _LEAKS), ("isolate", _ISOLATION)):
        if _chosen(config, name) not in allowed:
            raise pytest.UsageError(f"cannery_{name} is {_chosen(config, name)!r}, not one of {', '.join(allowed)}")
    settings = {setting: _chosen(config, name) for name, (setting, _takes, _text) in _MACHINE.items()}
    settings = {setting: value for setting, value in settings.items() if value}
    # The cards of this run are its own: what other programs of the user hold does not count.
    # So are those of each worker, which finds the directory of the pytest that started it.
    given = os.environ.get("CANNERY_RUNTIME_DIR")
    if not given or os.path.basename(given).startswith(_PREFIX):
        config.stash[_directory] = settings["CANNERY_RUNTIME_DIR"] = tempfile.mkdtemp(prefix=_PREFIX)
    config.stash[_before] = {setting: os.environ.get(setting) for setting in settings}
    os.environ.update(settings)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the environment as it was."""
    for setting, value in config.stash.get(_before, {}).items():
        if value is None:
            os.environ.pop(setting, None)
        else:
            os.environ[setting] = value
    directory = config.stash.get(_directory, None)
    if directory is not None:
        shutil.rmtree(directory, ignore_errors=True)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Says which machine the tests get."""
    shown = [f"{name} {_chosen(config, name)}" for name in _MACHINE if _chosen(config, name)]
    return [f"cannery: {', '.join(shown)}"] if shown else []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remembers whether the test failed: its traceback then still holds what it allocated."""
    report = yield
    if report.failed:
        item.stash[_failed] = True
    return report


def _check_machine(config: pytest.Config, count: int) -> None:
    """The options must have had an effect."""
    from .snapshots import statistics

    asked = [f"--cannery-{name}" for name in _MACHINE if _chosen(config, name)]
    if not asked:
        return
    if statistics() is None:
        pytest.fail(
            f"{', '.join(asked)}: `acl` is not Cannery's, so nothing is emulated; put Cannery's python/ directory "
            "first on PYTHONPATH",
            pytrace=False,
        )
    devices = _chosen(config, "devices")
    if devices and devices != str(count):
        pytest.fail(
            f"--cannery-devices {devices}, but the runtime has {count}: something started it before pytest was "
            "configured, such as an `acl.init()` in a conftest.py; move that into a fixture",
            pytrace=False,
        )


@pytest.fixture
def npu(request: pytest.FixtureRequest) -> Generator[Npu, None, None]:
    """Device 0 and a context of its own, current in this thread; afterwards a look for leaks."""
    from . import Context, Device, Process, device_count, lost_errors, snapshot

    mode = _chosen(request.config, "leaks")
    gc.collect()
    lost_errors(clear=True)
    before = snapshot()
    process = Process().open()
    context = None
    try:
        _check_machine(request.config, device_count())
        device = Device(0).open()
        context = Context(device).open()
        yield Npu(device, context, device_count())
        leaks: list[str] = []
        if mode != "ignore" and not request.node.stash.get(_failed, False):
            gc.collect()
            leaks = snapshot().grown_since(before)
            leaks += [f"an object that was dropped could not be closed: {error}" for error in lost_errors()[1]]
    finally:
        _end(process, context)
    if leaks:
        text = f"{request.node.name} left behind: " + "; ".join(leaks)
        if mode == "fail":
            pytest.fail(text, pytrace=False)
        warnings.warn(LeakWarning(text), stacklevel=1)


def _end(process: Process, context: Context | None) -> None:
    """Takes everything back, whatever the test did to it, so that the next one starts with a clean machine."""
    import acl

    from .process import devices_in_use, forget_if_gone
    from .snapshots import statistics

    if context is not None:
        acl.rt.destroy_context(context.handle)
    counts = statistics()
    if counts is None:
        # A card may not start a second time in one process: only what the fixture held is given back.
        acl.rt.reset_device(0)
        process.close()
    else:
        for device in counts["devices"] or ():
            acl.rt.reset_device_force(device["device"])
        acl.finalize()
    # What a test had given back itself is refused here.
    acl.get_recent_err_msg()
    for number in devices_in_use():
        forget_if_gone(number)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    """With ``--cannery-isolate process`` a test that uses ``npu`` runs in a child of its own."""
    if _chosen(item.config, "isolate") != "process" or "npu" not in getattr(item, "fixturenames", ()):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _in_a_child(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _in_a_child(item: pytest.Item) -> list[pytest.TestReport]:
    """Runs the phases of a test in a forked process; its reports, or one that tells how it died."""
    # A file and no pipe: what the test starts may outlive it and would keep a pipe open.
    with tempfile.TemporaryFile() as told_by_child:
        status = _forked(item, told_by_child)
        told_by_child.seek(0)
        data = told_by_child.read()
    if status == 0 and data:
        told_all: list[dict[str, Any]] = pickle.loads(data)
        hook = item.config.hook
        return [hook.pytest_report_from_serializable(config=item.config, data=told) for told in told_all]
    end = os.waitstatus_to_exitcode(status)
    how = f"signal {signal.Signals(-end).name}" if end < 0 else f"exit code {end}"
    return [
        pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords=dict.fromkeys(item.keywords, 1),
            outcome="failed",
            longrepr=f"the process of the test ended with {how}, before the test did",
            when="call",
        )
    ]


def _forked(item: pytest.Item, out: IO[bytes]) -> int:
    """Runs the phases in a child, which writes its reports to a file; the status of the child's end."""
    from _pytest.runner import runtestprotocol

    child = os.fork()
    if child == 0:
        me, status = os.getpid(), 1
        try:
            reports = runtestprotocol(item, log=False)
            hook = item.config.hook
            told = [hook.pytest_report_to_serializable(config=item.config, report=report) for report in reports]
            # What the test forked itself may come here, too.
            if os.getpid() == me:
                pickle.dump(told, out)
                out.flush()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]
