"""Libraries that refuse operators, and real ones in front of them."""

import os
import subprocess
import sys

from isolated import PREFIX, child_environment, run

REFUSING = PREFIX / "opp" / "lib64"
LIBRARIES = "opapi opapi_nn op_common nnopbase fmk_onnx_parser metadef llm_datadist".split()

ASK = """
import ctypes
library = ctypes.CDLL("libopapi.so")
code = library.aclnnAddGetWorkspaceSize(None, None, None, None, None)
recent = ctypes.CDLL("libascendcl.so").aclGetRecentErrMsg
recent.restype = ctypes.c_char_p
print(code, (recent() or b"").decode())
"""


def cannery(*arguments, **env):
    """What a program prints that `cannery run` starts."""
    environment = child_environment(env)
    command = [str(PREFIX / "bin" / "cannery"), "run", "--quiet", "--", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_every_library_loads():
    for name in LIBRARIES:
        run("-c", f"import ctypes; ctypes.CDLL({str(REFUSING / f'lib{name}.so')!r}, mode=2)")


def test_an_operator_is_refused_by_name():
    text = cannery(sys.executable, "-c", ASK)
    assert text.startswith("207000 [EE1005] aclnnAddGetWorkspaceSize: operator Add was not run"), text
    assert "memory, not operators" in text


def test_every_name_refuses():
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(REFUSING / "libcannery_no_operators.so")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    operators = [line.split()[2] for line in listing.splitlines() if " aclnn" in line]
    assert len(operators) > 400
    program = (
        "import ctypes\n"
        f"library = ctypes.CDLL({str(REFUSING / 'libopapi.so')!r})\n"
        f"print({{getattr(library, name)(None) for name in {operators!r}}})\n"
    )
    assert run("-c", program).stdout == "{207000}\n"


def test_a_real_library_in_front_wins(tmp_path):
    source = tmp_path / "opapi.c"
    source.write_text("int aclnnAddGetWorkspaceSize(void) { return 42; }\n")
    compiler = os.environ.get("CC", "cc").split()
    library = str(tmp_path / "libopapi.so")
    subprocess.run([*compiler, "-shared", "-fPIC", "-Wl,-soname,libopapi.so", "-o", library, str(source)], check=True)
    assert cannery(sys.executable, "-c", ASK, LD_LIBRARY_PATH=str(tmp_path)).split()[0] == "42"


def test_objects_of_operators_can_be_made_and_ended():
    program = (
        "import ctypes\n"
        f"library = ctypes.CDLL({str(REFUSING / 'libopapi.so')!r})\n"
        "library.aclCreateTensor.restype = ctypes.c_void_p\n"
        "tensor = ctypes.c_void_p(library.aclCreateTensor())\n"
        "other = ctypes.create_string_buffer(64)\n"
        "print(library.aclDestroyTensor(None), library.aclDestroyTensor(other), library.aclDestroyTensor(tensor))\n"
    )
    assert run("-c", program).stdout == "0 100000 0\n"
