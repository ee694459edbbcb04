"""What the pages say, against where it comes from: settings, tests, codes, names, profiles."""

import json
import re
import subprocess

PARSER = "crates/runtime/src/settings/parse.rs"
CASES = "tests/conformance/src/cases"
# Pages that name the test of each row.
WITH_TESTS = ("docs/differences.md", "docs/field-cases.md")
CASE_ID = re.compile(r"[a-z]\w*(?:\.[a-zA-Z0-9_]+)+")
NAME = re.compile(r"(?<!\w)(?:acl|hi_mpi_)[A-Za-z0-9_]+|(?<!\w)ACL_[A-Z0-9_a-z]+")
# Words of that shape that are no names of the contract.
OTHER = {"acldvpp", "aclnn", "acllib"}


def ticked(path):
    """Everything between backticks outside of fenced blocks, with its line number."""
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            for text in re.findall(r"`([^`]+)`", line):
                yield number, text


def rows(path):
    """Cells of the table lines of a page, without backticks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            yield [cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")]


def spec(root, name):
    """Objects of a file of the contract."""
    with open(root / "spec" / f"{name}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def settings(root):
    """The settings page lists every setting, and no other."""
    code = (root / PARSER).read_text(encoding="utf-8").split("#[cfg(test)]")[0]
    real = set(re.findall(r'"(CANNERY_[A-Z0-9_]+)"', code)) - {
        "CANNERY_PREFIX",
        "CANNERY_LANG",
        "CANNERY_HOME",
        "CANNERY_PYTHON_HOOKS",
    }
    shown = {cells[0] for cells in rows(root / "docs/settings.md") if cells[0].startswith("CANNERY_")}
    if real == shown:
        return ""
    return f"not on the page: {sorted(real - shown)}; not in the code: {sorted(shown - real)}"


def named_tests(root, page):
    """Every test that the page names exists."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (root / CASES).rglob("*.rs"))
    known = set(re.findall(r'"([a-z]\w*(?:\.[a-zA-Z0-9_]+)+)"', sources))
    known.update(row["id"] for row in spec(root, "conformance"))  # its table shows those without a case
    problems = []
    for line, text in ticked(root / page):
        path, _, function = text.partition("::")
        if re.match(r"(tests|examples|crates)/", text):
            file = root / path
            if not file.exists():
                problems.append(f"{line}: {text}: no such file")
            elif function and not re.search(rf"\b(?:def|fn) {re.escape(function)}\b", file.read_text("utf-8")):
                problems.append(f"{line}: {text}: no such test")
        elif CASE_ID.fullmatch(text) and not text.startswith("acl.") and text not in known:
            problems.append(f"{line}: {text}: no such case")
    return "\n".join(problems)


def codes(root):
    """Names and numbers of the error page are those of the contract."""
    real = {str(row["value"]): row["name"] for row in spec(root, "errors") if row["value"] is not None}
    problems, seen = [], 0
    for cells in rows(root / "docs/errors.md"):
        if re.fullmatch(r"\d{6}", cells[0]):
            seen += 1
            if real.get(cells[0]) != cells[1]:
                problems.append(f"{cells[0]} is {real.get(cells[0])}, not {cells[1]}")
    return "\n".join(problems) or ("" if seen else "the page has no table of codes")


def names(root, pages):
    """Every name of the interface that a page mentions exists."""
    known = set(OTHER)
    for file in ("functions", "extra_exports", "structs", "enums", "errors"):
        for row in spec(root, file):
            known.update(value for key, value in row.items() if key in ("name", "enum") and isinstance(value, str))
    problems = []
    for page in pages:
        for line, text in ticked(page):
            for name in NAME.findall(text):
                prefix = any(other.startswith(name) for other in known) if name.endswith("_") else False
                path = re.search(rf"{re.escape(name)}[\w/]*\.(?:h|so|c|rs|py|pyi|toml)\b", text)
                if name not in known and not prefix and not path:
                    problems.append(f"{page.relative_to(root)}:{line}: {name} is no name of the interface")
    return "\n".join(problems)


def readable(number):
    """A size as the profile table writes it."""
    if number is None:
        return "unknown"
    return f"{number >> 30} GiB" if number % (1 << 30) == 0 else f"{number:,}".replace(",", " ") + " bytes"


def profile(root, prefix, cells, head):
    """A row of the profile table, against what the library reports."""
    row = dict(zip(head, cells))
    command = [str(prefix / "bin" / "cannery"), "info", "--json", "--profile", row["profile"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr or done.stdout
    info = json.loads(done.stdout)
    number = {None: "unknown"}
    real = {
        "default chip": info["soc_name"],
        "memory": readable(info["capacity_bytes"]),
        "padding": str(info["padding_bytes"]),
    }
    for key in ("streams", "events", "notifies"):
        real[key] = str(number.get(info["limits"][key], info["limits"][key]))
    wrong = {key: value for key, value in real.items() if row[key] != value}
    return "\n".join(f"{key}: {row[key]} on the page, {value} reported" for key, value in wrong.items())


def house(root):
    """The drawing and the table of the architecture page have every crate."""
    text = (root / "docs/architecture.md").read_text(encoding="utf-8")
    drawing = text.split("```text", 1)[1].split("```", 1)[0]
    rooms = {cells[0] for cells in rows(root / "docs/architecture.md")}
    problems = []
    for manifest in sorted((root / "crates").glob("*/Cargo.toml")):
        name = manifest.parent.name
        if not re.search(rf"\bcrates/{name}\b", drawing):
            problems.append(f"crates/{name} is not in the drawing")
        if name not in rooms:
            problems.append(f"{name} is not in the table")
    return "\n".join(problems)


def check(root, prefix):
    """Yields the name of each check and what is wrong."""
    pages = [root / "README.md", root / "README.zh-CN.md", *sorted((root / "docs").glob("*.md"))]
    yield "the settings page lists every setting", settings(root)
    for page in WITH_TESTS:
        yield f"tests named in {page}", named_tests(root, page)
    yield "codes of docs/errors.md", codes(root)
    yield "the house has every crate", house(root)
    yield "names of the interface", names(root, [page for page in pages if page.name != "coverage.md"])
    table = [cells for cells in rows(root / "docs/profiles.md")]
    head = next(cells for cells in table if cells[0] == "profile")
    profiles = {"910", "310P", "310B", "910B", "A3", "950", "IPV350"}
    seen = set()
    for cells in table:
        if cells[0] in profiles and len(cells) == len(head) and cells[0] not in seen:
            seen.add(cells[0])
            yield f"row of profile {cells[0]}", profile(root, prefix, cells, head)
    if seen != profiles:
        yield "profile table", f"no row for {sorted(profiles - seen)}"
