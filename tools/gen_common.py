"""What the generators share: reading spec/, reading C types, writing output files."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "spec"

# The media functions live in libraries of their own.
MEDIA_HEADERS = ("acl/ops/acl_dvpp.h", "acl/dvpp/hi_dvpp.h")


def load(name):
    """Returns the objects of ``spec/NAME.jsonl`` in file order."""
    with open(SPEC / (name + ".jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def include_path(header):
    """Turns a header name of the spec into the path a program includes."""
    return header if header.startswith("acl/") else "acl/" + header


class CType:
    """A C type of the spec, taken apart.

    ``base`` is the named type (with ``struct``/``enum``/``union`` tag if any) and
    ``base_const`` its qualifier; ``pointers`` lists, from the inside out, whether
    each pointer level is const itself; ``dims`` are array lengths.
    """

    def __init__(self, text):
        self.text = text
        dims = re.findall(r"\[(\d+)\]", text)
        self.dims = [int(d) for d in dims]
        bare = re.sub(r"\[\d+\]", "", text)
        match = re.match(r"^(const )?([A-Za-z_][\w. ]*?)\s*((?:\*\s*(?:const\s*)?)*)$", bare)
        if match is None:
            raise ValueError(f"cannot read the C type {text!r}")
        self.base_const = match.group(1) is not None
        self.base = match.group(2).strip()
        self.pointers = ["const" in level for level in re.findall(r"\*\s*(?:const)?", match.group(3))]


RUST_BASE = {
    "void": "c_void",
    "char": "c_char",
    "bool": "bool",
    "int": "i32",
    "unsigned int": "u32",
    "unsigned char": "u8",
    "unsigned long long": "u64",
    "float": "f32",
    "size_t": "usize",
    "int8_t": "i8",
    "uint8_t": "u8",
    "int16_t": "i16",
    "uint16_t": "u16",
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
}


def rust_name(c_name):
    """Rust name of a C type: tags go, and an unnamed member type gets a flat name."""
    bare = re.sub(r"^(struct|union|enum) ", "", c_name)
    return bare.replace(".", "_")


def rust_type(text):
    """Rust spelling of a C type of the spec (array parameters do not occur)."""
    ctype = CType(text)
    out = RUST_BASE.get(ctype.base, rust_name(ctype.base))
    pointee_const = ctype.base_const
    for level_const in ctype.pointers:
        out = ("*const " if pointee_const else "*mut ") + out
        pointee_const = level_const
    for length in reversed(ctype.dims):
        out = f"[{out}; {length}]"
    return out


RUST_KEYWORDS = {"type", "match", "ref", "move", "fn", "in", "self", "use", "loop", "box"}


def rust_ident(name):
    """Rust spelling of a member or parameter name."""
    return "r#" + name if name in RUST_KEYWORDS else name


def quoted(text):
    """A string literal; valid in Rust and in C for the plain text of the spec."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def sentence(text):
    """First letter upper case, one full stop at the end."""
    text = text.strip()
    if not text:
        return text
    first = text.split(" ")[0]
    # Names keep their spelling at the start of a sentence.
    plain_word = first.islower() and "_" not in first and first.isalpha()
    if plain_word:
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def wrap(text, width, first="", rest=""):
    """Greedy line filling with a prefix for the first and the later lines."""
    lines = []
    line = first
    empty = True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = rest
            empty = True
        line = line + word if empty else line + " " + word
        empty = False
    lines.append(line)
    return lines


def emit(files, generated_dirs=(), argv=None):
    """Writes the files (path below the root -> text), or compares with ``--check``.

    ``generated_dirs`` hold nothing but output: a file there that is not generated any
    more is stale as well. Returns the exit code.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments not in ([], ["--check"]):
        print(f"usage: {Path(sys.argv[0]).name} [--check]", file=sys.stderr)
        return 2
    check = arguments == ["--check"]
    stale = []
    for path, text in sorted(files.items()):
        target = ROOT / path
        old = target.read_text(encoding="utf-8") if target.exists() else None
        if old == text:
            continue
        stale.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for folder in generated_dirs:
        for found in sorted((ROOT / folder).rglob("*")):
            name = found.relative_to(ROOT).as_posix()
            if found.is_file() and name not in files:
                stale.append(name)
                if not check:
                    found.unlink()
    if check:
        for path in stale:
            print(f"stale: {path}")
        print(f"{len(files)} generated files, {len(stale)} stale")
        return 1 if stale else 0
    print(f"{len(files)} generated files, {len(stale)} changed")
    return 0
