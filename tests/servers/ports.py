"""Ports of loopback that servers of tests listen at.

None is one that the system gives to a client: a client that calls a server which was killed, again and again,
would be given the server's own port in the end, and talk to itself while the server can't come back.
Source: RFC 9293, 3.10.7.3, simultaneous open.
"""

from __future__ import annotations

import os
import socket
from itertools import count
from pathlib import Path

_FIRST = 10_000
_SYSTEM = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LAST = int(_SYSTEM.read_text().split()[0]) if _SYSTEM.exists() else 32_768
# of processes that start together: each has its own
_OF_A_PROCESS = 64
_turns = count()


def free_port() -> int:
    """One that nobody listens at and that this process hasn't given out before."""
    size = _LAST - _FIRST
    while (turn := next(_turns)) < size:
        port = _FIRST + (os.getpid() * _OF_A_PROCESS + turn) % size
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError("no port is free")
