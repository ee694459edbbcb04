"""Test programs made from spec/: every fact becomes an assertion of the compiler.

This module reads C types on its own and shares no code with the generator of the
headers, so that a slip there shows here.
"""

import json
import re

C, CXX = "c", "c++"


def load(spec, name):
    """The objects of one spec file, in file order."""
    with open(spec / (name + ".jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def include_path(header):
    """Path that a program includes for a header name of the spec."""
    if header is None:
        # Constants of the manual that no vendor header has.
        return "acl/acl_rt.h"
    return header if header.startswith("acl/") else "acl/" + header


def declared(type_text, name):
    """Declares ``name`` (may be empty) with a C type of the spec."""
    if "(* const)" in type_text:
        return type_text.replace("(* const)", f"(*{name})")
    dims = "".join(re.findall(r"\[\d+\]", type_text))
    return "{} {}{}".format(re.sub(r"\[\d+\]", "", type_text), name, dims)


def signature(row, name):
    """Declares ``name`` as a pointer to a function with the row's signature."""
    params = ", ".join(p["type"] if p["type"] == "..." else declared(p["type"], "").strip() for p in row["params"])
    return "{} (*{})({})".format(row["returns"], name, params or "void")


class Program:
    """Assertions on what one header declares, in one language."""

    def __init__(self, header, language):
        self.header = header
        self.language = language
        self.lines = []
        self.count = 0

    def check(self, condition, text):
        """Adds an assertion."""
        word = "static_assert" if self.language == CXX else "_Static_assert"
        self.lines.append(f'{word}({condition}, "{text}");')
        self.count += 1

    def same_type(self, expression, c_type, text):
        """Asserts that an expression has exactly this type."""
        if self.language == CXX:
            self.check(f"std::is_same<decltype({expression}), {c_type}>::value", text)
        else:
            self.check(f"_Generic(({expression}), {c_type}: 1, default: 0)", text)

    def same_named_type(self, name, declare, text):
        """Asserts that a type name stands for exactly the type that ``declare`` declares.

        C compares pointers to both, because ``_Generic`` takes values and a type may be
        incomplete.
        """
        if self.language == CXX:
            self.check("std::is_same<{}, {}>::value".format(name, declare("")), text)
        else:
            self.check("_Generic(({} *)0, {}: 1, default: 0)".format(name, declare("*")), text)

    def text(self):
        out = ["#include <stddef.h>", "#include <stdint.h>"]
        if self.language == CXX:
            out.append("#include <type_traits>")
        out.append(f'#include "{self.header}"')
        return "\n".join(out + self.lines) + "\n"


def add_enum_value(program, row):
    name, value = row["name"], row["value"]
    if row["type"] == "enum":
        program.check(f"{name} == {value}", name)
        program.check("sizeof({}) == 4".format(row["enum"]), "size of " + row["enum"])
        if program.language == CXX:
            program.same_type(name, row["enum"], "type of " + name)
        else:
            # In C an enumerator is an int; the variable shows that the type exists.
            program.lines.append("extern {} variable_{};".format(row["enum"], name))
    else:
        program.check(f"{name} == {value}LL", name)
        program.same_type(name, row["type"], "type of " + name)
        # A macro, so that the preprocessor can test it.
        program.lines.append(f"#ifndef {name}\n#error {name} is no macro\n#endif")


def add_code(program, row):
    name = row["name"]
    program.check("{} == {}".format(name, row["value"]), name)
    if program.language == CXX:
        program.same_type(name, "const int", "type of " + name)
    else:
        program.same_type(name, "int", "type of " + name)
    # Usable where only a constant expression is: array size and case label.
    program.lines.append(f"extern char array_{name}[{name} + 1];")
    program.lines.append(f"static inline int is_{name}(int code) {{")
    program.lines.append(f"    switch (code) {{ case {name}: return 1; default: return 0; }}\n}}")


def add_layout(program, row):
    name = row["name"]
    if "." in name:
        add_member_type(program, row)
        return
    program.check("sizeof({}) == {}".format(name, row["size"]), "size of " + name)
    align = "alignof" if program.language == CXX else "_Alignof"
    program.check("{}({}) == {}".format(align, name, row["align"]), "alignment of " + name)
    for field in row["fields"]:
        place = "{}.{}".format(name, field["name"])
        member = "(({} *)0)->{}".format(name, field["name"])
        program.check(
            "offsetof({}, {}) == {}".format(name, field["name"], field["offset"]),
            "offset of " + place,
        )
        program.check("sizeof({}) == {}".format(member, field["size"]), "size of " + place)
        # The unnamed union has no type name; C++ has no name for an array without elements.
        if "." not in field["type"] and not field["type"].endswith("[0]"):
            add_member_of_type(program, name, field, place)


def add_member_of_type(program, owner, field, place):
    """Asserts the type of a member; a C array is compared through its address."""
    if program.language == CXX:
        member_type = "decltype({}::{})".format(owner, field["name"])
        program.check(
            "std::is_same<{}, {}>::value".format(member_type, declared(field["type"], "").strip()),
            "type of " + place,
        )
    else:
        address = "&(({} *)0)->{}".format(owner, field["name"])
        pointer = declared(field["type"], "(*)" if "[" in field["type"] else "*")
        program.check(f"_Generic({address}, {pointer}: 1, default: 0)", "type of " + place)


def add_member_type(program, row):
    """A union without a name: reached through the member that has it."""
    owner, path = row["name"].split(".")
    member = f"(({owner} *)0)->{path}"
    program.check("sizeof({}) == {}".format(member, row["size"]), "size of " + row["name"])
    align = f"alignof(decltype({owner}::{path}))"
    if program.language == C:
        align = f"_Alignof(__typeof__({member}))"
    program.check("{} == {}".format(align, row["align"]), "alignment of " + row["name"])
    for field in row["fields"]:
        place = "{}.{}".format(row["name"], field["name"])
        program.check(
            "offsetof({}, {}.{}) - offsetof({}, {}) == {}".format(
                owner, path, field["name"], owner, path, field["offset"]
            ),
            "offset of " + place,
        )
        program.check("sizeof({}.{}) == {}".format(member, field["name"], field["size"]), "size of " + place)


def add_type(program, row):
    name = row["name"]
    if row["kind"] in ("struct", "union"):
        add_layout(program, row)
    elif row["kind"] == "fnptr":
        program.check("sizeof({}) == {}".format(name, row["size"]), "size of " + name)
        program.same_named_type(name, lambda inner: signature(row, inner), "signature of " + name)
    else:
        program.same_named_type(name, lambda inner: declared(row["target"], inner), name)
        if row["size"] is not None:
            program.check("sizeof({}) == {}".format(name, row["size"]), "size of " + name)


def add_function(program, row):
    name = row["name"]
    program.lines.append("extern {};".format(signature(row, "pointer_" + name)))
    if program.language == CXX and row["params"] and row["params"][-1]["type"] == "...":
        # The printf attribute does not survive in a template argument; C++ assigns function
        # pointers only when the types are equal.
        program.lines.append(f"void assign_{name}() {{ pointer_{name} = {name}; }}")
        program.count += 1
    elif program.language == CXX:
        program.check(
            "std::is_same<decltype(&{}), {}>::value".format(name, signature(row, "")),
            "signature of " + name,
        )
    else:
        program.check(
            "_Generic(&{}, {}: 1, default: 0)".format(name, signature(row, "")),
            "signature of " + name,
        )


def programs(spec):
    """One program for each header and language, with every fact of the spec in one of them."""
    by_header = {}

    def place(header, add, row):
        path = include_path(header)
        for language in (C, CXX):
            key = (path, language)
            add(by_header.setdefault(key, Program(path, language)), row)

    facts = 0
    for row in load(spec, "enums"):
        place(row["header"], add_enum_value, row)
        facts += 1
    for row in load(spec, "errors"):
        if row["value"] is not None:
            place(row["header"], add_code, row)
            facts += 1
    for row in load(spec, "structs"):
        place(row["header"], add_type, row)
        facts += 1
    for row in load(spec, "functions"):
        place(row["header"], add_function, row)
        facts += 1
    return [by_header[key] for key in sorted(by_header)], facts
