"""Run a command with the network off: `python tools/offline.py COMMAND …`.

The command gets a network namespace of its own in which only the loopback device is up. That
proves that lectures need no download, and it works on Linux, as root or where users may create
namespaces. Elsewhere the command runs with the network on, and this is said.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys

INSIDE = "LAMPLIGHT_OFFLINE"


def raise_loopback() -> None:
    """Switch on the loopback device, which starts switched off in a new namespace."""
    import fcntl  # not on Windows, where this is never called

    get_flags, set_flags, up = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(sock, get_flags, request))[1]
        fcntl.ioctl(sock, set_flags, struct.pack("16sH14s", b"lo", flags | up, b""))


def namespace() -> list[str] | None:
    """The command that opens a namespace here, or None."""
    if shutil.which("unshare") is None:
        return None
    for options in (["--net"], ["--net", "--map-root-user"]):
        command = ["unshare", *options]
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    return None


def main(command: list[str]) -> None:
    """Replace this process by the command."""
    if not command:
        sys.exit("Name a command: python tools/offline.py COMMAND …")
    # Where the network stays on, no model is fetched either, and none fetched before is found.
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": "no models here"}
    if os.environ.get(INSIDE) == "1":
        raise_loopback()
    elif (prefix := namespace()) is not None:
        os.environ[INSIDE] = "1"
        command = [*prefix, sys.executable, os.path.abspath(__file__), *command]
    else:
        print("The network stays on: this system lets nobody open a network namespace.")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
