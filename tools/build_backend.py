"""The build backend behind `pip install .` (PEP 517).

It builds the libraries and the tool with cargo, makes a prefix from them, and
packs it into one wheel:

    acl.abi3.so          the module that programs import
    acl-stubs/           its types
    cannery/             objects, exceptions and arrays on top of it, and the pytest plugin
    cannery_npu/         a prefix (lib64/, include/, bin/ ...) with a small Python package on top

A wheel holds no links, so the ones of a prefix are left out, but for
libacl_rt.so: programs load it by that name, and get a small library that hands
every name on to libascendcl.so. A second copy would be a second runtime.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import make_prefix
import wheel_tag

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "crates" / "python" / "package" / "cannery_npu"
STUBS = ROOT / "crates" / "python" / "stubs" / "acl"
BUILT = ("cannery-ascendcl", "cannery-python", "cannery-cli")
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE")

# The module uses only the stable ABI of CPython 3.9.
PYTHON = "cp39-abi3"


def table(name):
    """The texts of a table of pyproject.toml.

    A reader for `key = "value"` lines is enough, and spares a dependency:
    Python has none of its own before 3.11.
    """
    content = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = re.search(rf"^\[{re.escape(name)}\]\n(.*?)(?=^\[|\Z)", content, re.MULTILINE | re.DOTALL).group(1)
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', section, re.MULTILINE))


def project():
    """The [project] table."""
    return table("project")


def release():
    """`name-version`, as file names want it."""
    return f"{project()['name'].replace('-', '_')}-{make_prefix.version()}"


def metadata():
    """The METADATA (and PKG-INFO) text."""
    table = project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {table['name']}",
        f"Version: {make_prefix.version()}",
        f"Summary: {table['description']}",
        f"License-Expression: {table['license']}",
        f"Requires-Python: {table['requires-python']}",
        *(f"License-File: {name}" for name in LICENCES),
    ]
    return "\n".join(lines) + "\n"


def entry_points(name):
    """The lines of a group of entry points."""
    return "".join(f"{name} = {target}\n" for name, target in sorted(table(name).items()))


def dist_info(platform):
    """The files of the .dist-info directory, without RECORD."""
    scripts = entry_points("project.scripts")
    plugins = entry_points('project.entry-points."pytest11"')
    wheel = f"Wheel-Version: 1.0\nGenerator: cannery build_backend\nRoot-Is-Purelib: false\nTag: {PYTHON}-{platform}\n"
    return {
        "METADATA": metadata(),
        "WHEEL": wheel,
        "entry_points.txt": f"[console_scripts]\n{scripts}\n[pytest11]\n{plugins}",
        "top_level.txt": "acl\ncannery\ncannery_npu\n",
    }


def run(command, what):
    """Runs a command of the build; its output is the user's to see."""
    try:
        done = subprocess.run(command, cwd=ROOT, check=False)
    except FileNotFoundError:
        raise RuntimeError(f"{command[0]} is needed to {what}, and is not on PATH") from None
    if done.returncode != 0:
        raise RuntimeError(f"cannot {what}: `{' '.join(map(str, command))}` failed")


def forward(runtime, place):
    """Makes `place` a library that hands the names of `runtime` on to it.

    It is a filter: the dynamic linker looks every name up in `runtime` first,
    and static linkers find the names in it.
    """
    listing = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--format=posix", str(runtime)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [name for name, kind, *_ in map(str.split, listing.splitlines()) if kind == "T"]
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "forward.c"
        source.write_text("".join(f"void {name}(void) {{}}\n" for name in names), encoding="utf-8")
        command = [
            *os.environ.get("CC", "cc").split(),
            *("-shared", "-fPIC", "-fno-builtin", "-o", str(place), str(source)),
            *(f"-Wl,-soname,{place.name}", f"-Wl,--filter,{runtime.name}", "-Wl,-rpath,$ORIGIN"),
        ]
        run(command, f"make {place.name}")


def without_links(prefix):
    """Turns a prefix into plain files."""
    libraries = prefix / "lib64"
    (libraries / "libacl_rt.so").unlink()
    forward(libraries / "libascendcl.so", libraries / "libacl_rt.so")
    for directory, folders, names in os.walk(prefix, topdown=False):
        for name in folders + names:
            path = Path(directory) / name
            if path.is_symlink():
                path.unlink()
        if not os.listdir(directory):
            os.rmdir(directory)
    make_prefix.write_manifest(prefix)


def slim(files):
    """Drops debugging information, where the tool for it exists."""
    tool = shutil.which("strip")
    if tool:
        for file in files:
            run([tool, "--strip-debug", str(file)], f"strip {file.name}")


def lay_out(place):
    """Builds everything and lays the content of the wheel out below `place`."""
    packages = [word for name in BUILT for word in ("--package", name)]
    run([os.environ.get("CARGO", "cargo"), "build", "--release", "--locked", *packages], "build the libraries")
    prefix = place / "cannery_npu"
    run([sys.executable, str(ROOT / "tools" / "make_prefix.py"), "--out", str(prefix)], "make the prefix")
    slim([*(prefix / "lib64").glob("*.so"), prefix / "python" / "acl.abi3.so", prefix / "bin" / "cannery"])
    without_links(prefix)
    shutil.copy(prefix / "python" / "acl.abi3.so", place / "acl.abi3.so")
    make_prefix.add_package(place / "cannery")
    shutil.copytree(STUBS, place / "acl-stubs", ignore=shutil.ignore_patterns("py.typed"))
    for source in PACKAGE.glob("*.py"):
        text = source.read_text(encoding="utf-8").replace("@VERSION@", make_prefix.version())
        (prefix / source.name).write_text(text, encoding="utf-8")


def moment():
    """The time of all entries: fixed, so that equal content makes an equal wheel."""
    earliest = 315532800  # archives know no time before 1980
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", earliest)), earliest)
    return time.gmtime(seconds)[:6]


class Wheel:
    """A wheel that is being written; RECORD comes last."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []

    def add(self, name, data, mode=0o644):
        """Adds one file."""
        entry = zipfile.ZipInfo(name, date_time=moment())
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self, directory):
        """Writes RECORD into `directory` and finishes the file."""
        name = f"{directory}/RECORD"
        self.add(name, "".join([*self.record, f"{name},,\n"]).encode())
        self.archive.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: builds the wheel and returns its file name."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        lay_out(place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        platform = wheel_tag.platform_tag(files)
        name = f"{release()}-{PYTHON}-{platform}.whl"
        wheel = Wheel(Path(wheel_directory) / name)
        for file in files:
            mode = 0o755 if os.access(file, os.X_OK) else 0o644
            wheel.add(str(file.relative_to(place)), file.read_bytes(), mode)
        for file, text in dist_info(platform).items():
            wheel.add(f"{release()}.dist-info/{file}", text.encode())
        for licence in LICENCES:
            wheel.add(f"{release()}.dist-info/licenses/{licence}", (ROOT / licence).read_bytes())
        wheel.close(f"{release()}.dist-info")
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: the metadata alone, without building anything."""
    place = Path(metadata_directory) / f"{release()}.dist-info"
    place.mkdir()
    for file, text in dist_info(wheel_tag.platform_tag([])).items():
        (place / file).write_text(text, encoding="utf-8")
    return place.name


def source_files():
    """The files of a source distribution: those under version control, else all but build products."""
    listing = None
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if listing is not None and listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
    else:
        products = {"target", "dist", "build", ".venv", "__pycache__", ".git"}
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = [str(path) for path in paths if not products.intersection(path.parts)]
    return sorted(name for name in names if (ROOT / name).is_file())


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: packs the sources and returns the file name."""
    name = f"{release()}.tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file in source_files():
            archive.add(ROOT / file, f"{release()}/{file}", recursive=False)
        with tempfile.TemporaryDirectory() as directory:
            info = Path(directory) / "PKG-INFO"
            info.write_text(metadata(), encoding="utf-8")
            archive.add(info, f"{release()}/PKG-INFO")
    return name
