"""Rows on their way to a client: as many at once as are spelled at little cost, and no more than it reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from dbsp.serving.postgres import wire
from dbsp.serving.postgres.answers import Copied, Followed, Rows
from dbsp.serving.postgres.copying.tuples import SIGNATURE
from dbsp.serving.postgres.outgoing import Outgoing
from dbsp.serving.postgres.values import copied, data_rows

# rows that are spelled at once, and those for which a thread would cost more
_ROWS, _FEW = 16_384, 256
_COPY_BEGIN, _COPY_END = SIGNATURE + bytes(8), b"\xff\xff"


@dataclass
class Sending:
    """Of one connection. zone: the session's time zone."""

    out: Outgoing
    zone: Callable[[], str]

    async def rows(self, answer: Rows | Followed, formats: list[int], limit: int) -> None:
        """At most so many of them, 0: all. formats: of each column, 0 text, 1 binary."""
        spell = partial(data_rows, formats=formats, zone=self.zone())
        if isinstance(answer, Followed):
            count, tag = 0, "SELECT {}"
            await self.out.flush()  # who follows is told so before there is a row
            async for batch in answer.batches:
                count += batch.num_rows
                self.out.say(await _spelled(spell, batch))
                await self.out.flush()
        else:
            begun, rows = answer.at, answer.batch
            stop = rows.num_rows if limit <= 0 else min(rows.num_rows, begun + limit)
            while answer.at < stop:
                piece = rows.slice(answer.at, min(_ROWS, stop - answer.at))
                self.out.say(await _spelled(spell, piece))
                await self.out.flush_much()
                answer.at += piece.num_rows
            if stop < rows.num_rows:
                self.out.say(wire.SUSPENDED)
                return
            count, tag = stop - begun, answer.tag
        self.out.say(wire.complete(tag.format(count)))

    async def copied(self, answer: Copied) -> None:
        """What COPY TO gives, in its format."""
        fields, copy = answer.rows.fields, answer.copy
        is_binary = copy.form == "binary"
        self.out.say(wire.copy_out(len(fields), int(is_binary)))
        if copy.header and not is_binary:
            names = [pa.array([one.name]) for one in fields]
            self.out.say(copied(pa.RecordBatch.from_arrays(names, names=[one.name for one in fields]), copy))
        spell = partial(copied, copy=copy, zone=self.zone())
        count, head = 0, _COPY_BEGIN if is_binary else b""
        await self.out.flush()
        async for batch in _pieces(answer.rows):
            if batch.num_rows:
                self.out.say(_headed(head, await _spelled(spell, batch)))
                await self.out.flush()
                count, head = count + batch.num_rows, b""
        if is_binary:
            self.out.say(wire.message(b"d", head, _COPY_END))
        self.out.say(wire.COPIED + wire.complete(f"COPY {count}"))


async def _spelled(spell: Callable[[pa.RecordBatch], bytes], rows: pa.RecordBatch) -> bytes:
    """In a thread where there are many."""
    return spell(rows) if rows.num_rows < _FEW else await asyncio.to_thread(spell, rows)


def _headed(head: bytes, messages: bytes) -> bytes:
    """PostgreSQL's header of binary COPY stands in the message of the first row."""
    size = int.from_bytes(messages[1:5], "big") + len(head)
    return messages[:1] + size.to_bytes(4, "big") + head + messages[5:] if head else messages


async def _pieces(rows: Rows | Followed) -> AsyncIterator[pa.RecordBatch]:
    if isinstance(rows, Followed):
        async for batch in rows.batches:
            yield batch
    else:
        for at in range(0, rows.batch.num_rows, _ROWS):
            yield rows.batch.slice(at, _ROWS)
