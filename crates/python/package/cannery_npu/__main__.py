"""The `cannery` command: becomes the tool of this prefix."""

import os
import sys

from cannery_npu import prefix


def main():
    """Replaces this process, so that signals and the exit code need no passing on."""
    tool = os.path.join(prefix(), "bin", "cannery")
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    main()
