"""A connection of a client: messages in, messages out, in PostgreSQL's simple and extended protocol.

Source: PostgreSQL 17 documentation, chapter 53.2, "Message Flow".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dbsp.serving.postgres import wire
from dbsp.serving.postgres.answers import (
    Answer,
    Command,
    Copied,
    Copying,
    Followed,
    Rows,
    fields_of,
    state_of,
)
from dbsp.serving.postgres.keeping.prepared import KEPT, Prepared
from dbsp.serving.postgres.language.parameters import UNKNOWN, Value, values_of
from dbsp.serving.postgres.language.restating import standard
from dbsp.serving.postgres.language.spelling import Word, parameters_of, statements
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.postgres.outgoing import Outgoing
from dbsp.serving.postgres.sending import Sending
from dbsp.serving.postgres.session import Session

# characters that are read at once
_LONG = 1 << 16
# settings that a client is told
_REPORTED = (
    *("server_version", "server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone"),
    *("integer_datetimes", "standard_conforming_strings", "is_superuser", "application_name"),
)


@dataclass
class _Portal:
    """A statement with its values. formats: of the columns. answer: as soon as it was asked for."""

    prepared: Prepared
    values: list[Value]
    formats: list[int]
    answer: Answer | None = None


@dataclass
class Connection:
    """session: what its statements mean. running: what a cancellation ends."""

    session: Session
    reader: asyncio.StreamReader
    out: Outgoing
    running: asyncio.Task[None] | None = None
    _reading: asyncio.Task[tuple[bytes, wire.Reader]] | None = None
    _reported: dict[str, str] = field(default_factory=dict)
    _portals: dict[str, _Portal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sending = Sending(self.out, lambda: self.session.zone)

    async def greet(self, process: int, secret: int) -> None:
        """Anyone who can connect may read."""
        self.out.say(wire.AUTHENTICATED)
        self._report()
        self.out.say(wire.key_data(process, secret))
        await self._ready()

    async def serve(self) -> None:
        """Until the client leaves. Raises BadMessage, and what reading and writing raise."""
        try:
            await self._serve()
        finally:
            self.out.send()

    async def _serve(self) -> None:
        # what is done at once, and what may wait, for rows or for a step
        quick = {b"P": self._parse, b"B": self._bind, b"C": self._close}
        handlers = {b"P": self._parse_long, b"D": self._describe, b"E": self._execute}
        skips = False
        while True:
            kind, message = await self._next()
            if kind == b"X":
                return
            if kind == b"S":
                skips = False
                if self.session.transaction == "I":
                    self._portals.clear()
                    await self._told(self._end())
                await self._ready()
            elif kind == b"Q":
                skips = False
                await self._told(self._query(message.string()))
                await self._ready()
            elif kind == b"H":
                await self.out.flush()
            elif kind in quick and (kind != b"P" or message.size < _LONG):
                skips = skips or not self._did(quick[kind], message)
            elif kind in handlers:
                skips = skips or not await self._told(handlers[kind](message))
            elif kind not in (b"d", b"c", b"f"):  # what is left of a COPY that failed
                raise wire.BadMessage(f"a message of kind {kind!r} is unknown")
            await self.out.flush_much()

    async def _next(self) -> tuple[bytes, wire.Reader]:
        """The next message. What a cancelled COPY had begun to read goes on."""
        if self._reading is None:
            return await wire.read_message(self.reader)
        begun, self._reading = self._reading, None
        return await begun

    def _report(self) -> None:
        """Settings that are others than those that the client was told."""
        values = self.session.settings.values
        for name in _REPORTED:
            if self._reported.get(name) != values[name]:
                self._reported[name] = values[name]
                self.out.say(wire.status(name, values[name]))

    async def _ready(self) -> None:
        self._report()
        self.out.say(wire.ready(self.session.transaction))
        await self.out.flush()

    def _did(self, handle: Callable[[wire.Reader], None], message: wire.Reader) -> bool:
        """Like `_told`, of what doesn't wait."""
        try:
            handle(message)
        except wire.BadMessage:
            raise
        except Exception as error:  # the same: the client gets a line
            self._failed(*state_of(error, self.session.pipeline.store.root), getattr(error, "position", 0))
            return False
        return True

    async def _told(self, doing: Coroutine[object, object, None]) -> bool:
        """Do it; whether it went well. What goes wrong is told to the client."""
        self.running = asyncio.create_task(doing)
        try:
            await self.running
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            if task.cancelling():  # the server ends, and not this alone
                raise
            self._failed("57014", "cancelled, as was asked")
            return False
        except (ConnectionError, asyncio.IncompleteReadError, wire.BadMessage):
            raise
        except Exception as error:  # whatever it is, the client gets a line and the server goes on
            self._failed(*state_of(error, self.session.pipeline.store.root), getattr(error, "position", 0))
            return False
        finally:
            self.running = None
        return True

    @asynccontextmanager
    async def _in_time(self, words: Sequence[Word]) -> AsyncIterator[None]:
        """As long as statement_timeout lets a statement take. Raises Wrong."""
        try:
            async with asyncio.timeout(self.session.timeout(words)) as timer:
                yield
        except TimeoutError:
            if not timer.expired():
                raise
            said = self.session.settings.values["statement_timeout"]
            raise Wrong("57014", f"canceling statement due to statement timeout, which is {said}") from None

    def _failed(self, code: str, said: str, position: int = 0) -> None:
        self.session.fail()
        self.out.say(wire.error(code, said, position))

    async def _end(self) -> None:
        """Of a transaction that nobody began or ends."""
        warning = await self.session.end()
        if warning:
            self.out.say(wire.warning("01000", warning))

    # -- the simple protocol ------------------------------------------------------------------------

    async def _query(self, said: str) -> None:
        found = [standard(words) for words in await _read(said)]
        if not found:
            self.out.say(wire.EMPTY)
        for words in found:
            async with self._in_time(words):
                answer = await self.session.answer(words)
                self._note(answer)
                if isinstance(answer, Rows | Followed):
                    self.out.say(wire.row_description(answer.fields, [0] * len(answer.fields)))
                    await self._sending.rows(answer, [0] * len(answer.fields), 0)
                else:
                    await self._done(answer)
        await self._end()

    def _note(self, answer: Answer) -> None:
        """What else there is to say of rows, before they are sent."""
        rows = answer.rows if isinstance(answer, Copied) else answer
        if isinstance(rows, Rows) and rows.notice:
            self.out.say(wire.notice(rows.notice))

    async def _done(self, answer: Command | Copied | Copying) -> None:
        if isinstance(answer, Copied):
            await self._sending.copied(answer)
            return
        if isinstance(answer, Copying):
            await self._take(answer)
            return
        self._report()
        if answer.warning:
            self.out.say(wire.warning("01000", answer.warning))
        self.out.say(wire.complete(answer.tag))

    async def _take(self, answer: Copying) -> None:
        """Rows from the client, until it says that these are all."""
        rows = answer.rows
        self.out.say(wire.copy_in(len(rows.names), int(rows.copy.form == "binary")))
        await self.out.flush()
        kind = b"d"
        while kind != b"c":
            self._reading = self._reading or asyncio.create_task(wire.read_message(self.reader))
            kind, message = await asyncio.shield(self._reading)
            self._reading = None
            if kind == b"d":
                rows.add(message.rest)
                if rows.is_much:
                    await asyncio.to_thread(rows.read)
            elif kind == b"f":
                raise Wrong("57014", f"COPY: the client gave up: {message.string()}")
            elif kind not in (b"c", b"H", b"S"):  # the last two came before they could know
                raise wire.BadMessage(f"a message of kind {kind!r} is none of COPY")
        count = await self.session.copied(rows)
        self.out.say(wire.complete(f"COPY {count}"))

    # -- the extended protocol ----------------------------------------------------------------------

    def _parse(self, message: wire.Reader) -> None:
        name, said, oids = _parsed(message)
        self._prepare(name, statements(said), oids)

    async def _parse_long(self, message: wire.Reader) -> None:
        name, said, oids = _parsed(message)
        self._prepare(name, await _read(said), oids)

    def _prepare(self, name: str, found: list[tuple[Word, ...]], oids: list[int]) -> None:
        if len(found) > 1:
            raise Wrong("42601", "a prepared statement is one statement; these are several")
        words = standard(found[0]) if found else ()
        self.session.prepared.check_room(name, words)
        oids += [UNKNOWN] * (parameters_of(words) - len(oids))
        self.session.prepared[name] = Prepared(words, self.session.types_of(words, oids))
        self.out.say(wire.PARSED)

    def _bind(self, message: wire.Reader) -> None:
        portal, name = message.string(), message.string()
        prepared = self.session.prepared.of(name)
        formats = message.int16s()
        given = [message.value() for _ in range(message.int16())]
        if len(given) != len(prepared.oids):
            raise Wrong("08P01", f"{len(prepared.oids)} parameters, and {len(given)} values")
        if len(self._portals) >= KEPT:
            raise Wrong("53400", f"{KEPT} portals are open; close some")
        self._portals[portal] = _Portal(prepared, values_of(prepared.oids, formats, given), message.int16s())
        self.out.say(wire.BOUND)

    async def _describe(self, message: wire.Reader) -> None:
        kind, name = message.taken(1), message.string()
        if kind == b"S":
            prepared = self.session.prepared.of(name)
            async with self._in_time(prepared.words):
                schema = await self.session.described(prepared)
            self.out.say(wire.parameter_description(prepared.oids))
            fields = None if schema is None else fields_of(schema, arrays=False)
            formats = [0] * len(fields or ())
        elif name not in self._portals and name in self.session.cursors.there:
            fields = fields_of(self.session.cursors.there[name].rows.schema)
            formats = [0] * len(fields)
        else:
            portal = self._portal(name)
            async with self._in_time(portal.prepared.words):
                if self.session.only_reads(portal.prepared.words):
                    answer = await self._answered(portal)
                    schema = answer.schema if isinstance(answer, Rows | Followed) else None
                else:
                    schema = await self.session.described(portal.prepared)
            fields = None if schema is None else fields_of(schema, arrays=not any(portal.formats))
            formats = _each(portal.formats, len(fields or ()))
        self.out.say(wire.NO_DATA if fields is None else wire.row_description(fields, formats))

    async def _execute(self, message: wire.Reader) -> None:
        portal, limit = self._portal(message.string()), message.int32()
        async with self._in_time(portal.prepared.words):
            answer = await self._answered(portal)
            if answer is None:
                self.out.say(wire.EMPTY)
            elif isinstance(answer, Rows | Followed):
                await self._sending.rows(answer, _each(portal.formats, len(answer.fields)), limit)
            else:
                await self._done(answer)

    async def _answered(self, portal: _Portal) -> Answer | None:
        if portal.answer is None and portal.prepared.words:
            portal.answer = await self.session.answer(portal.prepared.words, portal.values)
            self._note(portal.answer)
        return portal.answer

    def _close(self, message: wire.Reader) -> None:
        kind, name = message.taken(1), message.string()
        there: dict[str, Prepared] | dict[str, _Portal] = (
            self.session.prepared if kind == b"S" else self._portals
        )
        there.pop(name, None)
        self.out.say(wire.CLOSED)

    def _portal(self, name: str) -> _Portal:
        found = self._portals.get(name)
        if found is None:
            raise Wrong("34000", f"no portal '{name}'")
        return found


def _parsed(message: wire.Reader) -> tuple[str, str, list[int]]:
    """The name of a statement, its text, and types of its parameters."""
    return message.string(), message.string(), [message.int32() for _ in range(message.int16())]


async def _read(said: str) -> list[tuple[Word, ...]]:
    """The statements of a text; of a long one in a thread, meanwhile the loop answers others."""
    return statements(said) if len(said) < _LONG else await asyncio.to_thread(statements, said)


def _each(formats: Sequence[int], columns: int) -> list[int]:
    """The format of each column: named for each, for all, or text."""
    if len(formats) == columns:
        return list(formats)
    if len(formats) > 1:
        raise Wrong("08P01", f"{len(formats)} formats for {columns} columns")
    return [formats[0] if formats else 0] * columns
