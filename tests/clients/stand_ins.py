"""Stand-ins for the GPU libraries that the released torch wheel is linked against.

The wheel on the package index for x86-64 is built for GPUs and names about fifteen of their
libraries at load time, 4 GB of them, of which nothing here ever calls anything that matters. This
makes small libraries with the same names, symbols and versions instead: every function answers
"failed" (a number above 0), so that torch sees a machine without such a GPU.

    stand_ins.py SITE_PACKAGES DIRECTORY
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

# These are expected to answer something else than an error number.
SPECIAL = {
    "__cudaRegisterFatBinary": "static long handle; return (long)&handle;",
    "__cudaRegisterFatBinaryEnd": "return 0;",
    "__cudaRegisterFunction": "return 0;",
    "__cudaRegisterVar": "return 0;",
    "__cudaUnregisterFatBinary": "return 0;",
    "__cudaInitModule": "return 0;",
    "cudaGetErrorString": 'return (long)"no GPU here";',
    "cudaGetErrorName": 'return (long)"no GPU here";',
    "cudaGetLastError": "return 0;",
    "cudaPeekAtLastError": "return 0;",
    "cudaGetDeviceCount": "return 100;",  # no device
}
ERROR = "return 100;"


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, str(path)], capture_output=True, text=True, check=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf("-d", path))


def wanted(path):
    """Undefined symbols: (name, version or None, whether it is data)."""
    for line in readelf("--dyn-syms", path).splitlines():
        part = line.split()
        if len(part) >= 8 and part[6] == "UND":
            name, _, version = part[7].partition("@")
            if name:
                yield name, version.lstrip("@") or None, part[4] == "WEAK", part[3]


def defined(path):
    for line in readelf("--dyn-syms", path).splitlines():
        part = line.split()
        if len(part) >= 8 and part[6] != "UND":
            yield part[7].partition("@")[0]


def known_to_the_system():
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    return {line.split()[0] for line in listing.splitlines() if "=>" in line}


def version_owners(path):
    """From a version name to the library that must have it."""
    owners, current = {}, None
    for line in readelf("-V", path).splitlines():
        if found := re.search(r"File: (\S+)", line):
            current = found[1]
        elif found := re.search(r"Name: (\S+)", line):
            owners[found[1]] = current
    return owners


def make(site, directory):
    libraries = sorted((site / "torch" / "lib").glob("*.so*"))
    there = {path.name for path in libraries} | known_to_the_system()
    missing = sorted({name for path in libraries for name in needed(path)} - there)
    have = {name for path in libraries for name in defined(path)}
    # library -> version or None -> names
    plan = {name: collections.defaultdict(set) for name in missing}
    loose = set()
    for path in libraries:
        owners = version_owners(path)
        for name, version, weak, _kind in wanted(path):
            if name in have:
                continue
            owner = owners.get(version)
            if owner in plan:
                plan[owner][version].add(name)
            elif version is None and not weak and re.match(r"(_*cu|nccl|nv|cufile|_Z.*cu)", name):
                loose.add(name)
    directory.mkdir(parents=True, exist_ok=True)
    if missing:
        taken = {n for versions in plan.values() for names in versions.values() for n in names}
        plan[missing[0]][None] |= loose - taken
    for library, versions in plan.items():
        names = sorted({name for group in versions.values() for name in group})
        source = "\n".join(f"long {name}(void) {{ {SPECIAL.get(name, ERROR)} }}" for name in names)
        (directory / "one.c").write_text(source + "\n")
        script = "".join(
            f"{version} {{ global: {' '.join(f'{name};' for name in sorted(group))} }};\n"
            for version, group in versions.items()
            if version
        )
        (directory / "one.map").write_text(script)
        command = ["gcc", "-shared", "-fPIC", "-w", "-O1", "-o", str(directory / library)]
        command += [f"-Wl,-soname,{library}", str(directory / "one.c")]
        if script:
            command.append(f"-Wl,--version-script={directory / 'one.map'}")
        subprocess.run(command, check=True)
    for name in ("one.c", "one.map"):
        (directory / name).unlink(missing_ok=True)
    count = sum(len(group) for versions in plan.values() for group in versions.values())
    print(f"{len(plan)} libraries with {count} symbols in {directory}")


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
