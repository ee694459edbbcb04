"""Prints the texts that docs/errors.md shows, with what differs from run to run replaced."""

import re
import sys

import acl

NORMAL_ONLY, HOST_TO_DEVICE = 2, 1


def show(host=None):
    """The pending text."""
    text = acl.get_recent_err_msg() or sys.exit("no text is pending")
    text = re.sub(r"this thread \(.*?, id \d+\)", "this thread (main)", text)
    print(text.replace(hex(host), "HOST") if host else text)


def main():
    """Makes one mistake after the other."""
    acl.init()
    acl.rt.malloc(64, NORMAL_ONLY)
    show()
    acl.rt.set_device(0)
    acl.rt.malloc(0, NORMAL_ONLY)
    show()
    device, _ = acl.rt.malloc(100, NORMAL_ONLY)
    host, _ = acl.rt.malloc_host(100)
    mistakes = (
        lambda: acl.rt.free(host),
        lambda: acl.rt.free(device + 64),
        lambda: acl.rt.memcpy(device, 100, host, 200, HOST_TO_DEVICE),
        lambda: acl.rt.memset(device, 4096, 0, 200),
        lambda: acl.rt.free(device) or acl.rt.free(device),
        lambda: acl.rt.get_devices_topo(0, 0),
    )
    for mistake in mistakes:
        mistake()
        show(host)


if __name__ == "__main__":
    main()
