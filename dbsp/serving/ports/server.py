"""The server: uvicorn in a thread, beside the thread that makes steps."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import uvicorn
import uvicorn.config
from starlette.types import ASGIApp

from dbsp.circuits.errors import Error

# connections at the same time; others are told 503
CONNECTIONS = 2000
# seconds for what is being answered when the server ends
_LEAVING = 3


class Answering(Protocol):
    """What answers: `Serving`, or `Switching` from one to another."""

    def app(self) -> ASGIApp: ...
    def attach(self, loop: asyncio.AbstractEventLoop) -> None: ...
    def end(self) -> None: ...


@contextmanager
def listening(
    serving: Answering, host: str, port: int, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[str, int]]:
    """Answer while the block runs, at the address that it is given. port 0: one that is free.

    tls: https; None: http. Raises Error where nothing can be answered there.
    """
    bound = bound_to(host, port, "--http")
    config = uvicorn.Config(
        serving.app(),
        # who has handlers of their own gets its records, too
        log_config=None if logging.getLogger().handlers else uvicorn.config.LOGGING_CONFIG,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=_LEAVING,
        server_header=False,
        ssl_context_factory=None if tls is None else lambda *_: tls,
    )
    server = uvicorn.Server(config)
    begun = threading.Event()

    async def serve() -> None:
        serving.attach(asyncio.get_running_loop())
        begun.set()
        await server.serve(sockets=[bound])

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="http", daemon=True)
    thread.start()
    begun.wait()
    try:
        yield bound.getsockname()[:2]
    finally:
        serving.end()
        server.should_exit = True
        thread.join(2 * _LEAVING)
        bound.close()


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
