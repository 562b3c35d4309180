"""`make test` and `make execute` run with the network off, so no lecture can download anything."""

import os
import socket

import pytest

from tests.conftest import skip_or_fail


def test_the_network_is_off():
    if os.environ.get("LAMPLIGHT_OFFLINE") != "1":
        skip_or_fail("the network is on: run the tests through tools/offline.py (make test does)")
    with pytest.raises(OSError, match="unreachable"):
        socket.create_connection(("192.0.2.1", 80), timeout=2)  # an address kept for examples


def test_this_machine_can_be_reached():
    """Kernels and the browser need it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=2).close()
