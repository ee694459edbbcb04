"""Libraries that refuse operators, and real ones in front of them."""

import os
import subprocess
import sys

import pytest
from isolated import PREFIX, child_environment, run

REFUSING = PREFIX / "opp" / "lib64"
LIBRARIES = """
opapi opapi_nn op_common nnopbase fmk_onnx_parser metadef llm_datadist platform c_sec ascend_hal acl_dvpp_op
aoe_executor cann_kb compress datatransfer error_manager host_cpu_engine opskernel opt_feature slice tsdclient
""".split()

ASK = """
import ctypes
library = ctypes.CDLL("libopapi.so")
code = library.aclnnAddGetWorkspaceSize(None, None, None, None, None)
recent = ctypes.CDLL("libascendcl.so").aclGetRecentErrMsg
recent.restype = ctypes.c_char_p
print(code, (recent() or b"").decode())
"""

# Registers an operator while it is loaded, as programs do, then asks for things of graphs.
GRAPHS = r"""
#include <cstdint>
#include <functional>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

namespace ge {
struct Operator {
    Operator &SetAttr(const char *name, int32_t value);
};
struct InferShapeFuncRegister {
    InferShapeFuncRegister(const char *name, const std::function<uint32_t(Operator &)> &function);
};
struct Shape {
    Shape();
    void *self;
};
struct StatusFactory {
    static StatusFactory *Instance();
    std::map<uint32_t, std::string> texts;
};
}
static ge::InferShapeFuncRegister kept("Mine", [](ge::Operator &) -> uint32_t { return 0; });

int main()
{
    std::map<uint32_t, std::string> &texts = ge::StatusFactory::Instance()->texts;
    for (uint32_t code = 0; code < 1000; code++)
        texts[code * 7919 % 1000] = std::string(100, 'a' + code % 26);
    std::printf("%zu %u\n", texts.size(), texts.begin()->first);
    texts.clear();
    try {
        ge::Shape shape;
        std::puts("made");
    } catch (const std::runtime_error &error) {
        std::puts(error.what());
    }
    ge::Operator any;
    try {
        any.SetAttr("x", 1);
        std::puts("set");
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
}
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


def test_directories_that_programs_look_for_say_that_there_are_no_operators():
    for directory in ("opp", "opp_kernel", "compiler"):
        assert "memory, not" in (PREFIX / directory / "NO_OPERATORS.txt").read_text()


def test_the_log_of_operators_is_off_and_threads_have_their_numbers():
    program = (
        "import ctypes, threading\n"
        f"library = ctypes.CDLL({str(REFUSING / 'libslice.so')!r})\n"
        "library._Z9DlogFlushv()\n"
        "print([library._Z13CheckLogLevelii(module, level) for module in (0, 33) for level in range(5)])\n"
        "def ask(): print(library.mmGetTid() == threading.get_native_id())\n"
        "ask(); thread = threading.Thread(target=ask); thread.start(); thread.join()\n"
        "print(library._ZN3Adx14AdxDumpProcess25MessageCallbackUnRegisterEv())\n"
    )
    assert run("-c", program).stdout == f"{[0] * 10}\nTrue\nTrue\n207000\n"


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


@pytest.mark.parametrize("library", ["graph", "platform"])
def test_graphs_are_refused_with_an_exception(tmp_path, library):
    """libgraph.so has the names; the loader also finds them through what libplatform.so needs."""
    (tmp_path / "nothing.cpp").write_text("")
    (tmp_path / "graphs.cpp").write_text(GRAPHS)
    (tmp_path / "main.cpp").write_text("int work(); int main() { return work(); }")
    compiler = [*os.environ.get("CXX", "c++").split(), "-std=c++17", "-fPIC"]

    def build(*arguments):
        subprocess.run([*compiler, *arguments], cwd=tmp_path, check=True)

    # As released: the library was built where another one of that name was.
    build("-shared", f"-Wl,-soname,lib{library}.so", "-o", "other.so", "nothing.cpp")
    linked = "-Wl,-z,now,--no-as-needed,-soname,libmine.so"
    build("-shared", "-Dmain=work", linked, "-o", "libmine.so", "graphs.cpp", "./other.so")
    build("-Wl,--allow-shlib-undefined", "-o", "program", "main.cpp", "./libmine.so")
    program = tmp_path / "program"
    reason = "nothing was done: Cannery runs memory, not operators"
    assert cannery(str(program), LD_LIBRARY_PATH=str(tmp_path)).splitlines() == [
        "1000 0",
        f"ge::Shape::Shape(): {reason}",
        f"ge::Operator::SetAttr(char const*, int): {reason}",
    ]
