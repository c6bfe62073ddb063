"""The server begins and ends where it is told to."""

from __future__ import annotations

import socket

import pytest

from dbsp.circuits.errors import Error
from dbsp.serving.ports.server import bound_to, listening
from tests.dbsp.serving.served import served


def test_a_port_that_is_taken_is_said() -> None:
    with served() as (client, serving):
        port = client.base_url.port or 0
        with (
            pytest.raises(Error, match=rf"127.0.0.1:{port}: .*in use; give another"),
            listening(serving, "127.0.0.1", port),
        ):
            pass
        with pytest.raises(Error, match=r"nowhere.invalid:1: "), listening(serving, "nowhere.invalid", 1):
            pass


def test_nonsense_harms_nobody() -> None:
    with served() as (client, _):
        for nonsense in (
            b"\x00" * 5000,
            b"GET / HTTP/9\r\n\r\n",
            b"POST /step HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", client.base_url.port or 0)) as one:
                one.sendall(nonsense)
        assert client.get("/healthz").status_code == 200


def test_the_socket_names_tcp() -> None:
    """asyncio sets TCP_NODELAY where a socket says that it is of TCP."""
    with bound_to("127.0.0.1", 0, "--http") as bound:
        assert bound.proto == socket.IPPROTO_TCP
