"""C spelling of the spec: declarations and doc comments, with no knowledge of files."""

import re

from gen_common import CType, sentence, wrap
from gen_params import describe
from gen_subjects import ENUMS, TYPES

WIDTH = 100

PRODUCTS = (
    ("950", "950"),
    ("A3", "A3"),
    ("910b", "910B"),
    ("310b", "310B"),
    ("310p", "310P"),
    ("910", "910"),
    ("IPV350", "IPV350"),
)

SUFFIX = {"int32_t": "", "uint32_t": "U", "uint64_t": "UL"}


# Where the facts leave a choice: what Cannery does.
DECISIONS = {
    "aclrtStreamWaitEventWithTimeout": "Cannery: seconds",
    "aclrtWaitAndResetNotify": "Cannery: seconds",
}


def comment(paragraphs):
    """A doc comment from lines; a line may be (text, continuation indent)."""
    out = ["/**\n"]
    for item in paragraphs:
        text, indent = item if isinstance(item, tuple) else (item, "")
        if not text:
            out.append(" *\n")
            continue
        out.extend(line + "\n" for line in wrap(text, WIDTH, " * ", " * " + indent))
    out.append(" */\n")
    return "".join(out)


def declare(type_text, name):
    """Declaration of a name with a C type of the spec."""
    function_pointer = re.match(r"^(.*)\(\* const\)(\(.*\))$", type_text)
    if function_pointer:
        return f"{function_pointer.group(1)}(*{name}){function_pointer.group(2)}"
    ctype = CType(type_text)
    out = ("const " if ctype.base_const else "") + ctype.base + " "
    for level_const in ctype.pointers:
        out += "*const " if level_const else "*"
    return out + name + "".join(f"[{d}]" for d in ctype.dims)


def result(type_text):
    """A result type, ready to be followed by a name."""
    return declare(type_text, "").rstrip(" ") + ("" if type_text.endswith("*") else " ")


def prototype(head, params):
    """Joins a head and parameters, breaking lines where they are too long."""
    if not params:
        return head + "(void);\n"
    line = head + "(" + ", ".join(params) + ");"
    if len(line) <= WIDTH:
        return line + "\n"
    out = head + "("
    column = len(out)
    for index, param in enumerate(params):
        piece = param + (", " if index + 1 < len(params) else ");")
        if column + len(piece.rstrip()) > WIDTH:
            out = out.rstrip() + "\n    "
            column = 4
        out += piece
        column += len(piece)
    return out + "\n"


# The spec speaks of "docs" and of "the header": here, of the vendor's.
WORDING = (
    (r"docs table", "manual table"),
    (r"the docs\b", "the manual"),
    (r"\b(api )?docs\b", "manual pages"),
    (r"header comments?", "header note"),
    (r"(?<!vendor )\bheader( only|:| note)", r"vendor header\1"),
    (r"of the headers", "of the vendor headers"),
)


def plain(text):
    """Constraint wording for a reader who holds our header, not the vendor's."""
    for pattern, wording in WORDING:
        text = re.sub(pattern, wording, text)
    return text


def return_lines(row):
    returns = row["returns"]
    if returns == "void":
        return []
    if returns == "aclError":
        text = "@return ACL_SUCCESS, or a code whose text aclGetRecentErrMsg has"
    elif returns == "hi_s32":
        text = "@return 0, or the code of the failure"
    elif returns.endswith("*") or returns in ("aclrtAllocatorDesc", "aclrtBinary"):
        text = "@return the pointer, or NULL"
    else:
        text = "@return the value"
    if row["header_errors"]:
        text += "; among them " + ", ".join(row["header_errors"])
    return [(text, "        ")]


def function(row, prefix="CANNERY_API "):
    """Doc comment and prototype of a function."""
    lines = [row["summary"]]
    if row["deprecated"]:
        lines += ["", "Old function; it keeps working."]
    if row["experimental"]:
        lines += ["", "Trial function of the interface: it may change."]
    constraints = [plain(c) for c in row["constraints"]]
    if row["name"] in DECISIONS:
        constraints.append(DECISIONS[row["name"]])
    if constraints:
        lines.append("")
        lines += [("- " + text, "  ") for text in constraints]
    lines.append("")
    params = []
    for param in row["params"]:
        if param["type"] == "...":
            params.append("...")
            continue
        base = "" if "(" in param["type"] else CType(param["type"]).base
        params.append(declare(param["type"], param["name"]))
        text = describe(row["name"], param, param["dir"], base)
        direction = "in,out" if param["dir"] == "inout" else param["dir"]
        lines.append(("@param[{}] {} {}".format(direction, param["name"], text), "        "))
    lines += return_lines(row)
    having = [shown for key, shown in PRODUCTS if row["products"][key]]
    unknown = all(row["products"][key] is None for key, _ in PRODUCTS)
    if unknown:
        products = "not stated"
    else:
        products = ", ".join(having) or "none yet"
    lines.append((f"@note Products: {products}.", "        "))
    out = comment(lines)
    if row["name"] == "aclAppLog":
        out += "CANNERY_PRINTF(5, 6)\n"
    return out + prototype(prefix + result(row["returns"]) + row["name"], params)


def enum(name, rows):
    """An enum type with documented values."""
    out = [comment([ENUMS[name][1]]), f"typedef enum {name} {{\n"]
    for index, row in enumerate(rows):
        comma = "," if index + 1 < len(rows) else ""
        out.append("    {} = {}{} ///< {}\n".format(row["name"], row["value"], comma, plain(row["meaning"])))
    out.append(f"}} {name};\n")
    return "".join(out)


def number(value, c_type):
    """A literal of exactly this C type on a 64-bit Linux."""
    digits = f"{value}" if value < 0x10000 else f"0x{value:X}"
    return digits + SUFFIX[c_type]


def constants(group, rows):
    """A group of macros with documented values."""
    title = group.replace("define:", "")
    title = "Limits." if title == "limits" else f"Values {title}."
    out = ["/* {} */\n".format(title.replace("*/", "* /"))]
    for row in rows:
        out.append(
            "#define {} {} ///< {}\n".format(row["name"], number(row["value"], row["type"]), plain(row["meaning"]))
        )
    return "".join(out)


def codes(rows):
    """Return codes with meaning and remedy."""
    out = []
    for row in rows:
        text = row["meaning"] + (": " + row["remedy"] if row["remedy"] else "")
        out.append("CANNERY_CODE({}, {}); ///< {}\n".format(row["name"], row["value"], plain(text)))
    return "".join(out)


def member(field, layouts, indent):
    """One member of a struct or union."""
    inner = layouts.get(field["type"].split(" ")[-1])
    if inner is not None and "." in inner["name"]:
        body = "".join(member(f, layouts, indent + "    ") for f in inner["fields"])
        return "{}{} {{\n{}{}}} {};\n".format(indent, inner["kind"], body, indent, field["name"])
    extension = "__extension__ " if field["type"].endswith("[0]") else ""
    return "{}{}{};\n".format(indent, extension, declare(field["type"], field["name"]))


def type_comment(row, skip_note=False):
    lines = [TYPES[row["name"]][1]]
    notes = list(row.get("notes", []))
    if row.get("note") and not skip_note:
        notes.append(row["note"])
    if notes:
        lines.append("")
        lines += [("- " + plain(n), "  ") for n in notes]
    return comment(lines)


def layout(row, layouts):
    """A struct or union; members of an unnamed union share the last offset."""
    fields = row["fields"]
    unnamed = []
    flat = "anonymous union" in row.get("note", "")
    if flat:
        start = fields[-1]["offset"]
        unnamed = [f for f in fields if f["offset"] == start]
        fields = [f for f in fields if f["offset"] != start]
    out = [type_comment(row, flat), "typedef {} {} {{\n".format(row["kind"], row["name"])]
    out.extend(member(f, layouts, "    ") for f in fields)
    if unnamed:
        out.append("    __extension__ union {\n")
        out.extend(member(f, layouts, "        ") for f in unnamed)
        out.append("    };\n")
    out.append("}} {};\n".format(row["name"]))
    return "".join(out)


def simple_type(row):
    """A handle, an opaque struct or a scalar."""
    return type_comment(row) + "typedef {};\n".format(declare(row["target"], row["name"]))


def callback(row):
    """A function pointer type."""
    params = [declare(p["type"], p["name"]) for p in row["params"]]
    head = "typedef {}(*{})".format(result(row["returns"]), row["name"])
    return type_comment(row) + prototype(head, params)


def heading(text):
    """First comment of a file: sentences, one paragraph each."""
    return comment([sentence(t) if t else "" for t in text])
