"""An answer is sent once, over a real pair of sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from dbsp.serving.postgres.outgoing import Outgoing

Test = Callable[[Outgoing, socket.socket], Awaitable[None]]


def _with_a_client(test: Test) -> None:
    async def run() -> None:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        with theirs:
            _, writer = await asyncio.open_connection(sock=ours)
            try:
                await test(Outgoing(writer), theirs)
            finally:
                writer.close()

    asyncio.run(run())


def test_what_is_said_is_sent_once() -> None:
    async def test(out: Outgoing, client: socket.socket) -> None:
        out.say(b"one")
        out.say(b"two")
        with pytest.raises(BlockingIOError):
            client.recv(100)
        await out.flush()
        assert client.recv(100) == b"onetwo"
        await out.flush()
        with pytest.raises(BlockingIOError):
            client.recv(100)

    _with_a_client(test)


def test_much_does_not_wait() -> None:
    async def test(out: Outgoing, client: socket.socket) -> None:
        out.say(b"little")
        await out.flush_much()
        with pytest.raises(BlockingIOError):
            client.recv(100)
        loop, rest = asyncio.get_running_loop(), b"." * (1 << 17)
        out.say(rest)
        sent, got = asyncio.create_task(out.flush_much()), b""
        while len(got) < 6 + len(rest):
            got += await loop.sock_recv(client, 1 << 16)
        await sent
        assert got == b"little" + rest

    _with_a_client(test)


def test_a_client_that_has_left() -> None:
    async def test(out: Outgoing, client: socket.socket) -> None:
        out.say(b"late")
        out.writer.close()
        with pytest.raises(ConnectionResetError):
            await out.flush()

    _with_a_client(test)
