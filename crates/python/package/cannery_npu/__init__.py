"""Cannery as a Python distribution: the toolkit's files, and where they are.

`import acl` is the module that programs use; this package only holds the
libraries, the headers and the `cannery` tool, laid out like any other prefix.
"""

import os

__version__ = "@VERSION@"
__all__ = ["prefix"]


def prefix():
    """The directory with include/, lib64/, bin/ and set_env.sh, for build scripts."""
    return os.path.dirname(os.path.abspath(__file__))
