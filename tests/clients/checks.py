"""Named checks of a client script: each is a function, and all run even when one fails.

@check("what is checked")
def _():
    ...

finish()
"""

import os
import sys
import traceback

_checks = []


def check(name):
    """Registers a check; it fails by raising."""

    def keep(function):
        _checks.append((name, function))
        return function

    return keep


def finish():
    """Runs the checks in their order, prints a line for each, and ends the process with the verdict."""
    passed = failed = 0
    only = os.environ.get("CLIENT_CHECK")
    # Names of checks for which this release of the program lacks something: see releases.py.
    lacks = os.environ.get("CLIENT_LACKS", "").split("|")
    for name, function in _checks:
        if name in lacks or (only and only not in name):
            continue
        try:
            function()
        except BaseException as cause:  # noqa: BLE001 - whatever it is, it is this check's failure
            failed += 1
            place = traceback.extract_tb(cause.__traceback__)[-1]
            first = str(cause).strip().splitlines()[:1]
            print(f"FAILED {name}: {type(cause).__name__} in line {place.lineno}: {' '.join(first)}", flush=True)
            traceback.print_exc()
        else:
            passed += 1
            print(f"ok     {name}", flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)
