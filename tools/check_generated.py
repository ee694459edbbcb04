#!/usr/bin/env python3
"""Runs every generator of this directory with --check: no committed output is stale.

With --write it runs them without, so that all is fresh afterwards. Ends with `N passed, N failed`.
Needs only the standard library.
"""

import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent


def generators():
    """The files that are programs; the others are modules of theirs."""
    found = sorted(TOOLS.glob("gen_*.py"))
    return [path for path in found if '__name__ == "__main__"' in path.read_text(encoding="utf-8")]


def main():
    """Checks all of them."""
    mode = ["--check"]
    if sys.argv[1:] == ["--write"]:
        mode = []
    elif sys.argv[1:]:
        print("usage: check_generated.py [--write]", file=sys.stderr)
        return 2
    passed = failed = 0
    for path in generators():
        command = [sys.executable, str(path), *mode]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        good = done.returncode == 0
        print(f"{'ok    ' if good else 'FAILED'} {path.name}")
        if not good:
            print((done.stdout + done.stderr).strip())
        passed += good
        failed += not good
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
