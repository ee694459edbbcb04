"""`pytest --cannery-profile 910B --cannery-devices 2`, as a user's project meets it."""

import os
import re
import subprocess
import sys
import textwrap

import pytest
from isolated import PREFIX, child_environment

GOOD = """
    import os
    import acl
    import cannery

    def test_round_trip(npu):
        sent = os.urandom(1 << 20)
        with cannery.DeviceBuffer.of(sent) as buffer:
            assert buffer.tobytes() == sent

    def test_raw(npu):
        assert npu.device.id == acl.rt.get_device()[0] == 0
        assert npu.context.handle == acl.rt.get_context()[0]
        pointer, ret = acl.rt.malloc_cached(1 << 20, 0)
        assert ret == 0 and acl.rt.free(pointer) == 0
"""
LEAKY = """
    import acl
    import cannery

    kept = []

    def test_leaks_device_memory(npu):
        pointer, ret = acl.rt.malloc(4096, 0)
        assert ret == 0

    def test_is_not_blamed_for_it(npu):
        assert cannery.snapshot().blocks == 0
        with cannery.DeviceBuffer(64):
            pass

    def test_leaks_host_memory(npu):
        pointer, ret = acl.rt.malloc_host(4096)
        assert ret == 0

    def test_keeps_a_buffer(npu):
        kept.append(cannery.DeviceBuffer(64))

    def test_the_kept_buffer_harms_nobody(npu):
        with cannery.DeviceBuffer(64) as buffer:
            kept.clear()
            buffer.fill(1)
"""


@pytest.fixture
def project(tmp_path):
    """Runs pytest on a test file of a project; its output and exit code."""

    def go(source, *options, env=None, own_directory=True, ini=""):
        (tmp_path / "test_it.py").write_text(textwrap.dedent(source), encoding="utf-8")
        (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-rA", "--rootdir", str(tmp_path)]
        command += ["-p", "no:cacheprovider", "-p", "cannery.pytest_plugin"]
        environment = child_environment({"PYTHONDONTWRITEBYTECODE": "1", **(env or {})})
        if own_directory:
            del environment["CANNERY_RUNTIME_DIR"]
        done = subprocess.run(
            [*command, *options, str(tmp_path)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + done.stderr, done.returncode

    return go


def counts(output):
    """The numbers of pytest's summary."""
    summary = re.findall(r"^=+ (.* in [\d.]+s).* =+$", output, re.MULTILINE)[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", summary)}


@pytest.mark.parametrize("isolation", ["runtime", "process"])
def test_the_options_choose_the_machine(project, isolation):
    source = """
        import acl
        import cannery

        def test_machine(npu):
            assert npu.devices == cannery.device_count() == 3
            assert acl.get_soc_name().startswith("Ascend310P")
            assert cannery.memory_info().total <= 1 << 30
    """
    options = ["--cannery-profile", "310P", "--cannery-devices", "3", "--cannery-hbm", "1G"]
    output, code = project(source, *options, "--cannery-isolate", isolation)
    assert code == 0, output
    assert "cannery: profile 310P, devices 3, hbm 1G" in output
    ini = "cannery_profile = 310P\ncannery_devices = 3\ncannery_hbm = 1G\n"
    output, code = project(source, "--cannery-isolate", isolation, ini=ini)
    assert code == 0, output


@pytest.mark.parametrize("isolation", ["runtime", "process"])
def test_good_tests_pass(project, isolation):
    output, code = project(GOOD, "--cannery-isolate", isolation)
    assert code == 0 and counts(output)["passed"] == 2, output


@pytest.mark.parametrize("isolation", ["runtime", "process"])
def test_leaks_fail_the_test_that_leaks(project, isolation):
    output, code = project(LEAKY, "--cannery-isolate", isolation)
    assert code == 1, output
    assert counts(output)["passed"] == 5 and counts(output)["errors"] == 3, output
    assert "test_leaks_device_memory left behind: aclrtMalloc on device 0: 1 block, " in output
    assert "test_leaks_host_memory left behind: aclrtMallocHost on the host: 1 block, " in output
    assert "test_keeps_a_buffer left behind: aclrtMalloc on device 0: 1 block, " in output


def test_leaks_can_be_warnings_or_nothing(project):
    output, code = project(LEAKY, "--cannery-leaks", "warn")
    assert code == 0 and (counts(output)["passed"], counts(output)["warnings"]) == (5, 3), output
    assert "LeakWarning: test_leaks_host_memory left behind" in output
    output, code = project(LEAKY, "--cannery-leaks", "ignore")
    assert code == 0 and "left behind" not in output, output


def test_a_test_that_failed_is_not_blamed_for_what_its_traceback_holds(project):
    source = """
        import cannery

        def test_fails(npu):
            buffer = cannery.DeviceBuffer(64)
            assert buffer.nbytes == 65

        def test_next(npu):
            assert cannery.snapshot().blocks == 0
    """
    output, code = project(source)
    assert code == 1 and (counts(output)["failed"], counts(output)["passed"]) == (1, 1), output
    assert "left behind" not in output


def test_each_test_starts_with_a_clean_machine(project):
    source = """
        import acl

        def test_breaks_everything(npu):
            acl.rt.set_device(0)
            acl.rt.malloc(1 << 20, 0)
            acl.rt.set_op_wait_timeout(1)
            acl.rt.create_stream()
            acl.finalize()

        def test_next(npu):
            free, total, ret = acl.rt.get_mem_info(1)
            assert ret == 0 and acl.rt.get_device() == (0, 0)
            assert free == total
    """
    output, code = project(source, "--cannery-leaks", "ignore")
    assert code == 0 and counts(output)["passed"] == 2, output


def test_a_crash_is_one_failed_test(project):
    source = """
        import ctypes
        import os

        def test_crashes(npu):
            ctypes.string_at(1 << 45)

        def test_leaves(npu):
            os._exit(3)

        def test_goes_on(npu):
            pass
    """
    output, code = project(source, "--cannery-isolate", "process")
    assert code == 1 and (counts(output)["failed"], counts(output)["passed"]) == (2, 1), output
    assert "ended with signal SIGSEGV" in output and "ended with exit code 3" in output


def test_a_test_that_leaves_without_a_report_is_one_failed_test(project):
    source = """
        import os

        def test_leaves(npu):
            os._exit(0)

        def test_goes_on(npu):
            pass
    """
    output, code = project(source, "--cannery-isolate", "process")
    assert code == 1 and (counts(output)["failed"], counts(output)["passed"]) == (1, 1), output
    assert "ended with exit code 0, before the test did" in output


def test_what_a_test_starts_does_not_hold_pytest(project):
    source = """
        import os
        import pathlib
        import time

        def test_starts_a_process(npu):
            if os.fork() == 0:
                for _ in range(300):
                    if pathlib.Path(__file__).with_name("next").exists():
                        os._exit(0)
                    time.sleep(0.1)
                pathlib.Path(__file__).with_name("held").touch()
                os._exit(1)

        def test_forks_and_returns(npu):
            child = os.fork()
            if child:
                assert os.waitpid(child, 0) == (child, 0)

        def test_comes_next():
            pathlib.Path(__file__).with_name("next").touch()
            assert not pathlib.Path(__file__).with_name("held").exists()
    """
    output, code = project(source, "--cannery-isolate", "process")
    assert code == 0 and counts(output)["passed"] == 3, output


def test_wrong_options_are_refused(project):
    output, code = project(GOOD, "--cannery-leaks", "maybe")
    assert code == 4 and "maybe" in output
    output, code = project(GOOD, ini="cannery_leaks = maybe\n")
    assert code == 4 and "not one of fail, warn, ignore" in output
    output, code = project(GOOD, "--cannery-devices", "many")
    assert code == 1 and "CANNERY_DEVICES" in output, output


def test_options_that_came_too_late_are_told(project, tmp_path):
    (tmp_path / "conftest.py").write_text("import acl\nacl.init()\nacl.rt.get_device_count()\n", encoding="utf-8")
    output, code = project(GOOD, "--cannery-devices", "2")
    assert code == 1 and "something started it before pytest" in output, output


def test_a_run_has_cards_of_its_own(project, tmp_path):
    source = """
        import os

        def test_where(npu):
            print("cards in", os.environ["CANNERY_RUNTIME_DIR"])
    """
    chosen = tmp_path / "cards"
    of_another_run = tmp_path / "cannery-pytest-1"
    for place in (chosen, of_another_run):
        place.mkdir(mode=0o700)
        output, code = project(source, env={"CANNERY_RUNTIME_DIR": str(place)}, own_directory=False)
        assert code == 0, output
        # What the user chose stays; a worker does not share the cards of the run that started it.
        assert (f"cards in {place}\n" in output) == (place == chosen), output


def test_nothing_is_left_in_the_temporary_directory(project, tmp_path):
    place = tmp_path / "temporary"
    place.mkdir()
    output, code = project(GOOD, "--cannery-isolate", "process", env={"TMPDIR": str(place)})
    assert code == 0, output
    assert os.listdir(place) == []
    assert (PREFIX / "python" / "cannery" / "pytest_plugin.py").is_file()
