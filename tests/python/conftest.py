"""What all tests of the Python module need."""

import pytest
from isolated import PREFIX


def pytest_sessionstart(session):
    """Without a prefix no test can say anything: stop at once, with the reason."""
    if not (PREFIX / "python" / "acl.abi3.so").is_file():
        pytest.exit(f"no Python module in {PREFIX}: run `make build`, or set CANNERY_PREFIX", returncode=2)
