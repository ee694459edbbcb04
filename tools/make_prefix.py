#!/usr/bin/env python3
"""Fills the prefix: a complete, relocatable toolkit, laid out as Ascend build
scripts expect it.

Takes the built libraries and the tool from target/release, the headers from
include/, and the small files from tools/prefix/. The new prefix is built beside
the old one and then takes its place, so a reader never sees half of one.
Needs only the standard library and a C compiler.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIECES = ROOT / "tools" / "prefix"
COMPANIONS = ROOT / "crates" / "ascendcl" / "companions"
OPERATORS = ROOT / "crates" / "ascendcl" / "operators"
GRAPHS = OPERATORS / "graphs"
STUBS = ROOT / "crates" / "python" / "stubs"
PACKAGE = ROOT / "crates" / "python" / "package" / "cannery"
KNOWLEDGE = ROOT / "knowledge"
MANIFEST = "share/cannery/manifest"

# Where shells look for completion scripts, below a prefix.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/cannery",
    "zsh": "share/zsh/site-functions/_cannery",
    "fish": "share/fish/vendor_completions.d/cannery.fish",
}

# Other names under which build scripts look for include/ and lib64/, by toolkit
# generation. All are links, so there is one copy of each file.
ALIASES = {
    "acllib": ("include", "lib64"),
    "compiler": ("include", "lib64"),
    "fwkacllib": ("include", "lib64"),
    "runtime": ("include", "lib64"),
    f"{platform.machine()}-linux": ("include", "lib64", "devlib"),
}

# Libraries that released programs link for operators, for graphs of them, and from the driver beneath.
NAMES_OF_OPERATOR_LIBRARIES = (
    "libacl_dvpp_op",
    "libaoe_executor",
    "libascend_hal",
    "libc_sec",
    "libcann_kb",
    "libcompress",
    "libdatatransfer",
    "liberror_manager",
    "libfmk_onnx_parser",
    "libhost_cpu_engine",
    "libmetadef",
    "libnnopbase",
    "libop_common",
    "libopapi",
    "libopapi_nn",
    "libopskernel",
    "libopt_feature",
    "libplatform",
    "libslice",
    "libtsdclient",
)


class Failure(Exception):
    """A text for the person who builds."""


def version():
    """The version of the workspace, from its manifest."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    section = text.split("[workspace.package]", 1)[1]
    return re.search(r'^version\s*=\s*"([^"]+)"', section, re.MULTILINE).group(1)


def copy_file(source, target):
    """Copies a file that must exist, with its mode."""
    if not source.is_file():
        raise Failure(f"{source} is missing: run `cargo build --release --locked` first")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def fill_in(name, target):
    """Copies a piece, with the version filled in."""
    target.parent.mkdir(parents=True, exist_ok=True)
    text = (PIECES / name).read_text(encoding="utf-8")
    target.write_text(text.replace("@VERSION@", version()), encoding="utf-8")


def link(target, place):
    """Makes `place` a relative link to `target`."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent))


def compile_library(name, sources, place, needs, search="$ORIGIN"):
    """Compiles a library from C files.

    What it needs must be recorded even where the files use no name of it: some
    linkers leave unused libraries out unless told.
    """
    libraries = [part for directory, library in needs for part in (f"-L{directory}", f"-l{library}")]
    command = [
        *os.environ.get("CC", "cc").split(),
        *("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"),
        *("-shared", "-fPIC", "-fvisibility=hidden", "-fexceptions"),
        *("-o", str(place / name), *map(str, sources)),
        *(f"-Wl,-soname,{name}", "-Wl,--no-undefined", "-Wl,--no-as-needed"),
        *(*libraries, f"-Wl,-rpath,{search}"),
        *("-Wl,--as-needed", "-ldl"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise Failure(f"no C compiler: {missing}") from None
    if done.returncode != 0:
        raise Failure(f"cannot compile {name}:\n{done.stderr.strip()}")


def add_operators(prefix):
    """opp/: the place of operators, with libraries that refuse every one of them.

    Programs name these libraries when they link. Each needs the one that has the
    names, so that a real one with the same name, found first, takes the calls.
    """
    place = prefix / "opp" / "lib64"
    place.mkdir(parents=True)
    copy_file(PIECES / "NO_OPERATORS.txt", prefix / "opp" / "NO_OPERATORS.txt")
    search = "$ORIGIN:$ORIGIN/../../lib64"
    refusing = "cannery_no_operators"
    runtime = (prefix / "lib64", "ascendcl")
    apart = OPERATORS / "adxl_engine.c"
    sources = [path for path in sorted(OPERATORS.glob("*.c")) if path != apart]
    graphs = (prefix / "lib64", "graph")
    compile_library(f"lib{refusing}.so", sources, place, [graphs, runtime], search)
    compile_library("libllm_datadist.so", [apart], place, [(place, refusing), runtime], search)
    for name in NAMES_OF_OPERATOR_LIBRARIES:
        compile_library(f"{name}.so", [OPERATORS / "empty" / "nothing.c"], place, [(place, refusing)], search)


def add_libraries(prefix, built):
    """lib64/: the runtime, its second name, the companions, and stub/."""
    libraries = prefix / "lib64"
    runtime = libraries / "libascendcl.so"
    copy_file(built / "libascendcl.so", runtime)
    link(runtime, libraries / "libacl_rt.so")
    needs = [(libraries, "ascendcl")]
    compile_library("libgraph.so", sorted(GRAPHS.glob("*.c")), libraries, needs)
    for source in sorted(COMPANIONS.glob("*.c")):
        graphs = [(libraries, "graph")] if source.stem == "libge_runner" else []
        compile_library(source.stem + ".so", [source], libraries, graphs + needs)
    # Where programs are linked without a card, scripts look in stub/.
    for library in sorted(libraries.glob("*.so")):
        link(library, libraries / "stub" / library.name)


def add_python(prefix, built):
    """python/: the module, its type stubs, the package above it and the start-up file, also as site-packages."""
    place = prefix / "python"
    copy_file(PIECES / "sitecustomize.py", place / "sitecustomize.py")
    copy_file(built / "libacl.so", place / "acl.abi3.so")
    if STUBS.is_dir():
        shutil.copytree(STUBS, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    add_package(place / "cannery")
    for entry in sorted(place.iterdir()):
        link(entry, place / "site-packages" / entry.name)


def add_package(place):
    """The Python package `cannery`, with the version filled in."""
    place.mkdir()
    for source in sorted(path for path in PACKAGE.iterdir() if path.is_file()):
        text = source.read_text(encoding="utf-8")
        (place / source.name).write_text(text.replace("@VERSION@", version()), encoding="utf-8")


def add_rest(prefix, built):
    """Headers, the tool, the files that build systems read, and the aliases."""
    shutil.copytree(ROOT / "include", prefix / "include")
    copy_file(built / "cannery", prefix / "bin" / "cannery")
    copy_file(PIECES / "set_env.sh", prefix / "set_env.sh")
    fill_in("ascendcl.pc.in", prefix / "lib" / "pkgconfig" / "ascendcl.pc")
    cmake = prefix / "lib" / "cmake" / "AscendCL"
    fill_in("AscendCLConfig.cmake", cmake / "AscendCLConfig.cmake")
    fill_in("AscendCLConfigVersion.cmake.in", cmake / "AscendCLConfigVersion.cmake")
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        copy_file(ROOT / licence, prefix / "share" / "cannery" / licence)
    told = f"package=cannery\nversion={version()}\n"
    (prefix / "version.info").write_text(told, encoding="utf-8")
    # Programs look whether these directories exist; where links cannot be (wheels), a file keeps them.
    for directory in ("runtime", "compiler"):
        (prefix / directory).mkdir()
    (prefix / "runtime" / "version.info").write_text(told, encoding="utf-8")
    for directory in ("compiler", "opp_kernel"):
        copy_file(PIECES / "NO_OPERATORS.txt", prefix / directory / "NO_OPERATORS.txt")
    link(prefix / "lib64", prefix / "devlib")
    for directory, names in ALIASES.items():
        for name in names:
            link(prefix / name, prefix / directory / name)


def ask_tool(built, *arguments):
    """What the built tool prints."""
    command = [str(built / "cannery"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def add_manners(prefix, built):
    """share/: the manual pages and completions, as the tool itself writes them, and the table of
    what every code and function means."""
    ask_tool(built, "man", "--dir", str(prefix / "share" / "man" / "man1"))
    for shell, place in COMPLETIONS.items():
        target = prefix / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(ask_tool(built, "completions", shell), encoding="utf-8")
    for table in sorted(KNOWLEDGE.glob("*.jsonl")):
        copy_file(table, prefix / "share" / "cannery" / "knowledge" / table.name)


def write_manifest(prefix):
    """Lists every file and link, so that an installation knows its own."""
    files = {MANIFEST}
    for directory, folders, names in os.walk(prefix):
        links = [name for name in folders if (Path(directory) / name).is_symlink()]
        files.update(str((Path(directory) / name).relative_to(prefix)) for name in names + links)
    (prefix / MANIFEST).write_text("".join(f"{name}\n" for name in sorted(files)), encoding="utf-8")


def take_place(new, prefix):
    """Puts the new prefix where the old one is."""
    old = prefix.with_name(f".{prefix.name}.old-{os.getpid()}")
    if prefix.exists():
        prefix.rename(old)
    new.rename(prefix)
    shutil.rmtree(old, ignore_errors=True)


def main():
    """Parses the command line, builds, and tells where the prefix is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--built", type=Path, default=target / "release", help="where cargo left the libraries")
    parser.add_argument("--out", type=Path, default=target / "prefix", help="the prefix to make")
    options = parser.parse_args()

    prefix = options.out.absolute()
    new = prefix.with_name(f".{prefix.name}.new-{os.getpid()}")
    try:
        new.mkdir(parents=True)
        add_libraries(new, options.built)
        add_operators(new)
        add_python(new, options.built)
        add_rest(new, options.built)
        add_manners(new, options.built)
        write_manifest(new)
        take_place(new, prefix)
    except (Failure, OSError) as failure:
        print(f"make_prefix: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(new, ignore_errors=True)
    print(f"prefix: {os.path.relpath(prefix)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
