"""The table of C prototypes in the module against the contract."""

import re

from echo_library import rows
from isolated import ROOT

TABLES = [ROOT / "crates" / "python" / "src" / "c_api" / name for name in ("table.rs", "companions.rs")]

RUST = {
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
    "size_t": "usize",
    "float": "f32",
    "char": "c_char",
    "void": "c_void",
    "hi_void": "c_void",
}

# Not in functions.jsonl: operator facilities, and one function of some releases.
OUTSIDE = re.compile(r"acl(Create|Destroy|Get|Set|Trans)Tensor|aclrtGetOpTimeoutInterval$")


def rust_type(c_type):
    """A C type in Rust; `const` behind the star says nothing about the interface."""
    c_type = c_type.replace("* const", "*")
    base = c_type.replace("const", "").replace("*", "").strip()
    rust = RUST.get(base, base)
    stars = c_type.count("*")
    if stars == 0:
        return "()" if rust == "c_void" else rust
    innermost = "*const " if "const" in c_type else "*mut "
    return "*mut " * (stars - 1) + innermost + rust


def declared():
    """The prototypes of the tables: name to (parameters, result)."""
    found = {}
    for table in TABLES:
        text = table.read_text(encoding="utf-8").partition("c_functions! {")[2]
        text = re.sub(r"//.*", "", text)
        for name, parameters, result in re.findall(r"^    fn (\w+)\((.*?)\) -> (.*?);", text, re.MULTILINE | re.DOTALL):
            pairs = [item.split(": ", 1) for item in re.split(r",\s+", parameters.strip().rstrip(",")) if item]
            found[name] = [(param.replace("r#", ""), " ".join(kind.split())) for param, kind in pairs], result
    return found


def test_every_prototype_is_that_of_the_contract():
    contract = {row["name"]: row for row in rows("functions.jsonl")}
    tables = declared()
    assert len(tables) > 230
    for name, (parameters, result) in tables.items():
        if OUTSIDE.match(name):
            continue
        row = contract[name]
        assert parameters == [(param["name"], rust_type(param["type"])) for param in row["params"]], name
        assert result == rust_type(row["returns"]), name


def test_every_c_function_of_the_python_contract_is_declared():
    needed = {row["c_function"] for row in rows("pyacl.jsonl")} - {None}
    # Variable arguments do not fit the table; it has a place of its own.
    assert needed - set(declared()) == {"aclAppLog"}
