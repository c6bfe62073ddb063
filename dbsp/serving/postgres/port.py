"""The port where PostgreSQL's clients connect, in the loop that HTTP is answered in."""

from __future__ import annotations

import asyncio
import logging
import secrets
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dbsp.serving.access import VARIABLE
from dbsp.serving.app import Serving
from dbsp.serving.ports.server import bound_to
from dbsp.serving.ports.switching import Switching
from dbsp.serving.postgres import wire
from dbsp.serving.postgres.answers import state_of
from dbsp.serving.postgres.catalogue.answering import Catalogue
from dbsp.serving.postgres.catalogue.definitions import definitions_of
from dbsp.serving.postgres.connection import Connection
from dbsp.serving.postgres.outgoing import Outgoing
from dbsp.serving.postgres.scram import MECHANISM, Exchange, NotProved
from dbsp.serving.postgres.session import WRITER, Session
from dbsp.serving.postgres.transaction import Transaction

log = logging.getLogger("dbsp")

# connections at the same time, and seconds in which one must have begun
CONNECTIONS, _BEGUN = 500, 10.0


@contextmanager
def listening_postgres(
    switching: Switching, host: str, port: int, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[str, int]]:
    """Answer PostgreSQL's clients while the block runs, within that of `listening`. port 0: one that is free.

    tls: who connects without it is told to; None: there is none.
    Raises Error where nothing can be answered there.
    """
    bound = bound_to(host, port, "--postgres")
    at = _Port(switching, tls)
    loop = switching.loop
    switching.disconnecting.append(at.disconnect)
    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(at.connected, sock=bound), loop).result()
    try:
        yield bound.getsockname()[:2]
    finally:
        asyncio.run_coroutine_threadsafe(at.close(server), loop).result()


@dataclass
class _Port:
    """connections: by what a client cancels by."""

    switching: Switching
    tls: ssl.SSLContext | None = None
    connections: dict[tuple[int, int], Connection] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._catalogue = self.serving, _catalogue_of(self.serving)

    @property
    def serving(self) -> Serving:
        return self.switching.serving

    def _catalogue_for(self, serving: Serving) -> Catalogue:
        if self._catalogue[0] is not serving:
            self._catalogue = serving, _catalogue_of(serving)
        return self._catalogue[1]

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A client, until it leaves. One that sends nonsense is told so, and is gone."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._served(reader, writer)
        except asyncio.CancelledError:
            writer.write(wire.fatal("57P01", "the server ends, or its program changes; connect again"))
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError):
            pass  # it has left, or never begun
        except wire.BadMessage as error:
            writer.write(wire.fatal(*state_of(error, self.serving.pipeline.store.root)))
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_BEGUN):
            code, message = await wire.read_first(reader)
            while code in (wire.TLS, wire.GSS):
                if code == wire.TLS and self.tls is not None and not _is_encrypted(writer):
                    await _upgrade(reader, writer, self.tls)
                else:
                    writer.write(b"N")
                code, message = await wire.read_first(reader)
        if code == wire.CANCEL:
            self._cancel(message.int32() & 0xFFFFFFFF, message.int32() & 0xFFFFFFFF)
            return
        if code >> 16 != wire.PROTOCOL >> 16:
            raise wire.BadMessage("this port speaks PostgreSQL's protocol 3")
        # a cancellation is taken without: older clients send it so
        if self.tls is not None and not _is_encrypted(writer):
            writer.write(wire.fatal("28000", "this port answers by TLS alone; connect with sslmode=require"))
            return
        if len(self.connections) >= CONNECTIONS:
            writer.write(wire.fatal("53300", f"{CONNECTIONS} clients are connected; try again later"))
            return
        serving = await self.switching.current()
        given = _given(message)
        may_write = given.get("user") == WRITER
        if may_write and not await self._proved(reader, writer):
            return
        written = Transaction(serving.pipeline, serving.writes)
        session = Session(
            serving.pipeline,
            serving.evaluating,
            serving.subscriptions,
            self._catalogue_for(serving),
            written,
            may_write,
        )
        session.settings.start(given)
        key = secrets.randbits(31), secrets.randbits(31)
        connection = self.connections[key] = Connection(session, reader, Outgoing(writer))
        try:
            await connection.greet(*key)
            await connection.serve()
        finally:
            del self.connections[key]

    async def _proved(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the client knows the token; one that doesn't is told."""
        exchange = Exchange(self.serving.access.token)
        try:
            async with asyncio.timeout(_BEGUN):
                writer.write(wire.authentication(10, wire.text(MECHANISM) + b"\0"))
                first = await _response(reader)
                if first.string() != MECHANISM:
                    raise NotProved
                writer.write(wire.authentication(11, exchange.challenge(first.value() or b"")))
                last = await _response(reader)
                writer.write(wire.authentication(12, exchange.signature(last.rest)))
        except NotProved:
            token = f"the token that `dbsp serve` printed, or that of {VARIABLE}"
            said = f"user '{WRITER}' has {token}, as its password"
            writer.write(wire.fatal("28P01", said))
            return False
        return True

    def _cancel(self, process: int, secret: int) -> None:
        connection = self.connections.get((process, secret))
        if connection is not None and connection.running is not None:
            connection.running.cancel()

    async def close(self, server: asyncio.Server) -> None:
        """No client is left."""
        server.close()
        await self.disconnect()

    async def disconnect(self) -> None:
        """Who is connected now is told to connect again."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _catalogue_of(serving: Serving) -> Catalogue:
    program = serving.pipeline.program
    views = {name: program.views[name].schema for name in serving.pipeline}
    return Catalogue(views, list(program.inputs.values()), definitions_of(program))


def _is_encrypted(writer: asyncio.StreamWriter) -> bool:
    return writer.get_extra_info("ssl_object") is not None


async def _upgrade(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: ssl.SSLContext) -> None:
    """Go on by TLS. Raises BadMessage where something came already: others may have put it there."""
    transport = writer.transport
    assert isinstance(transport, asyncio.Transport)
    transport.pause_reading()  # until the handshake reads
    try:
        async with asyncio.timeout(0):
            await reader.read(1)
    except TimeoutError:
        writer.write(b"S")
        await writer.start_tls(tls)
    else:
        raise wire.BadMessage("nothing may follow the request for TLS before its answer")


def _given(message: wire.Reader) -> dict[str, str]:
    """What the client says of itself: names and values, one after the other."""
    found = {}
    while not message.is_over:
        name = message.string()
        if not name:
            break
        found[name] = message.string()
    return found


async def _response(reader: asyncio.StreamReader) -> wire.Reader:
    kind, message = await wire.read_message(reader, wire.FIRST)
    if kind != b"p":
        raise NotProved
    return message
