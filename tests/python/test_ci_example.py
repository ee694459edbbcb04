"""examples/ci: the project with CTest and pytest, as a user's CI builds and runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from isolated import PREFIX, ROOT, child_environment

PROJECT = ROOT / "examples" / "ci"
TOOLS = Path(sys.executable).parent


def tool(name, *arguments):
    """Runs cmake or ctest of this environment."""
    environment = child_environment()
    del environment["PYTHONPATH"]
    # The interpreter that CMake finds is the one with pytest.
    environment["PATH"] = os.pathsep.join([str(TOOLS), environment["PATH"]])
    environment["VIRTUAL_ENV"] = str(TOOLS.parent)
    done = subprocess.run(
        [str(TOOLS / name), *arguments], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    return done.stdout + done.stderr, done.returncode


def test_the_project_builds_and_its_tests_pass(tmp_path):
    output, code = tool("cmake", "-S", str(PROJECT), "-B", str(tmp_path), f"-DCMAKE_PREFIX_PATH={PREFIX}")
    assert code == 0, output
    output, code = tool("cmake", "--build", str(tmp_path))
    assert code == 0, output
    output, code = tool("ctest", "--test-dir", str(tmp_path), "--output-on-failure")
    assert code == 0, output
    names = set(re.findall(r"Test +#\d+: (\S+) \.+ +Passed", output))
    assert names == {"upload-910B", "upload-310P", "upload-A3", "upload-orders", "python"}, output
