"""Where clients connect."""

from __future__ import annotations

import socket

from dbsp.circuits.errors import Error


def bound_to(host: str, port: int, option: str) -> socket.socket:
    """A socket that listens there. option: that says where. Raises Error."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # named, so that asyncio sets TCP_NODELAY: else an answer waits 40 ms for a delayed ACK
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(1024)
    except OSError as error:
        raise Error(
            f"{host}:{port}: nothing can be served there: {error.strerror}; give another {option} PORT"
        ) from None
    return bound
