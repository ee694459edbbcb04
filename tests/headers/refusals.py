"""Calls every exported function that is not built, and looks companions' names up in them."""

import ctypes
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / "tools"
UNSUPPORTED = 207000

# What a refusal answers, by the class of the generator, and the type to read it as.
ANSWERS = {
    "code": (UNSUPPORTED, ctypes.c_int32),
    "ptr": (None, ctypes.c_void_p),
    "size": (0, ctypes.c_size_t),
    "u32": (0, ctypes.c_uint32),
    "invalid_u32": (0xFFFFFFFF, ctypes.c_uint32),
    "f32": (0.0, ctypes.c_float),
    "f16": (0, ctypes.c_uint16),
    "undefined": (-1, ctypes.c_int32),
    "void": (None, None),
    "hook": (0, ctypes.c_uint64),
}


def refusing():
    """(name, class) of every function that is not built."""
    sys.path.insert(0, str(TOOLS))
    import gen_not_built  # noqa: PLC0415

    built = gen_not_built.built_names()
    return [(name, kind) for _, name, kind in gen_not_built.exports() if name not in built]


def call_all(library):
    """Calls them in this process; the complaints."""
    runtime = ctypes.CDLL(library)
    last_text = runtime.aclGetRecentErrMsg
    last_text.restype = ctypes.c_char_p
    complaints = []
    for name, kind in refusing():
        wanted, restype = ANSWERS[kind]
        function = runtime[name]
        function.restype = restype
        last_text()
        # More zeros than any of them has parameters.
        got = function(*[ctypes.c_void_p(0)] * 16)
        text = (last_text() or b"").decode()
        if got != wanted:
            complaints.append(f"{name} answers {got}, expected {wanted}")
        if kind == "hook" and text:
            complaints.append(f"{name} leaves a text: {text}")
        if kind != "hook" and (name not in text or str(UNSUPPORTED) not in text):
            complaints.append(f"{name} leaves the text {text!r}")
    return complaints


def companions():
    """Library -> names that it forwards."""
    sys.path.insert(0, str(TOOLS))
    import gen_companions  # noqa: PLC0415

    return {library: names for library, (_, names) in gen_companions.names_of().items()}


def check(library, report):
    """Both, in processes of their own."""
    count = len(refusing())
    done = subprocess.run([sys.executable, __file__, library], capture_output=True, text=True, check=False, timeout=120)
    title = f"{count} functions that are not built refuse with a text"
    report(title, done.returncode == 0, done.stdout + done.stderr)
    for name, names in companions().items():
        path = Path(library).with_name(name + ".so")
        symbols = subprocess.run(
            ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=False
        ).stdout
        has = {line.split()[-1] for line in symbols.splitlines() if line}
        missing = sorted(set(names) - has)
        report(f"{name}.so has its {len(names)} names", not missing, "missing: " + " ".join(missing))
        surplus = sorted(has - set(names))
        report(f"{name}.so has nothing else", not surplus, "surplus: " + " ".join(surplus))


if __name__ == "__main__":
    found = call_all(sys.argv[1])
    print("\n".join(found))
    sys.exit(1 if found else 0)
