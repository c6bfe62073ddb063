"""Answers wait for no acknowledgement."""

from __future__ import annotations

import socket

from dbsp.serving.sockets import bound_to


def test_the_socket_names_tcp() -> None:
    """asyncio sets TCP_NODELAY where a socket says that it is of TCP."""
    with bound_to("127.0.0.1", 0, "--http") as bound:
        assert bound.proto == socket.IPPROTO_TCP
