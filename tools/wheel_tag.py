"""Which machines a wheel runs on, read from the files in it.

A wheel that needs nothing but what every Linux with the GNU C library has may say so: manylinux_2_34_x86_64
runs on any of them from release 2.34 on. The release is the newest that a file asks for.
"""

import platform
import re
import subprocess

ELF = b"\x7fELF"

# Libraries that such a system has; the loader is one by its name.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libgcc_s.so.1"}


def needs(path):
    """The libraries that a file needs, and the newest release of the C library that it asks for."""
    listing = subprocess.run(
        ["readelf", "--wide", "--dynamic", "--version-info", str(path)],
        check=True,
        capture_output=True,
        text=True,
        env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    ).stdout
    libraries = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", listing))
    releases = [tuple(map(int, found)) for found in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", listing)]
    return libraries, max(releases, default=(2, 17))


def platform_tag(files):
    """The last part of the name of a wheel with these files."""
    machine = platform.machine()
    files = [path for path in files if path.open("rb").read(4) == ELF]
    own = {path.name for path in files}
    newest = (2, 17)  # the oldest that the tag is known for
    for path in files:
        try:
            libraries, release = needs(path)
        except (OSError, subprocess.CalledProcessError):
            return f"linux_{machine}"  # no tool to tell more
        if not all(name in EVERYWHERE or name in own or name.startswith("ld-linux") for name in libraries):
            return f"linux_{machine}"
        newest = max(newest, release)
    return "manylinux_{}_{}_{}".format(*newest, machine)
