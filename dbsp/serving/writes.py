"""What is written: a request is a step, wholly or not at all.

    POST /tables/{name}       rows to insert, or a changelog where they have `__weight` or `__op` (I, U, D)
    DELETE /tables/{name}     rows to delete, of a keyed table by their keys
    PUT /tables/{name}        all rows that the table is to hold
    POST /step                what the clock makes due

The answer comes after the commit, and has the step's number. With a header `Idempotency-Key` a request that
is sent again changes nothing, whichever process made the step (of the last 100 that had one).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from starlette.requests import Request
from starlette.responses import Response

from dbsp.circuits.errors import DataError, Error, did_you_mean
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.errors import CallbackError, DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.changelogs import changes as read_changes
from dbsp.rows.incoming import BadRow, whole_rows
from dbsp.rows.json_values import decode_row
from dbsp.serving.access import Access
from dbsp.serving.answers import Refused, columns_of, json_response, without_path
from dbsp.serving.formats import read_rows
from dbsp.sql.plans.program import OP, Table
from dbsp.sql.plans.schemas import Field
from dbsp.views.changes import Changes

LARGEST = 64 << 20
KEY = "idempotency-key"
_MARKS: dict[str, pa.DataType] = {WEIGHT: pa.int64(), OP: pa.string()}

Queue = Callable[[], None]
Rows: TypeAlias = pa.Table | list[dict[str, Any]]


@dataclass
class Writes:
    """Each takes its turn with the sources of the program. made: told of each step. waits: why none is made.

    They have a thread of their own: those that wait for a long step keep nobody from reading.
    """

    pipeline: Pipeline
    made: Callable[[Changes], None]
    access: Access
    waits: str = ""
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "writes"))

    async def tables(self, request: Request) -> Response:
        """The tables, with their columns and keys."""
        listed = [
            {
                "name": table.name,
                "columns": columns_of(table.schema),
                "key": list(table.primary_key) or None,
                "source": table.format,
            }
            for table in map(self.pipeline.program.input, self.pipeline.program.inputs)
        ]
        return json_response({"tables": listed})

    async def table(self, request: Request) -> Response:
        """Change a table in a step of its own."""
        self.access.check(request)
        table = self._table(request.path_params["name"])
        body = await _body(request)
        kind = request.headers.get("content-type", "")

        def queue() -> None:
            types = {one.name.lower(): one.type for one in table.schema} | _MARKS
            rows = read_rows(body, kind, types)
            if isinstance(rows, list):
                rows = _decoded(table, rows, types)
            take = {"POST": self._insert, "DELETE": self._delete, "PUT": self._replace}[request.method]
            take(table, rows)

        return await self._stepped(request, queue)

    async def step(self, request: Request) -> Response:
        """A step without rows."""
        self.access.check(request)
        return await self._stepped(request, lambda: None)

    def _table(self, name: str) -> Table:
        tables = list(self.pipeline.program.inputs)
        found = next((each for each in tables if each.lower() == name.lower()), None)
        if found is None:
            listed = ", ".join(tables) or "none"
            raise Refused(404, f"unknown table '{name}'; tables: {listed}{did_you_mean(name, tables)}")
        return self.pipeline.program.input(found)

    def _insert(self, table: Table, rows: Rows) -> None:
        names = rows.column_names if isinstance(rows, pa.Table) else {name for row in rows for name in row}
        marks = sorted(name for name in names if name.lower() in _MARKS)
        if len(marks) > 1:
            raise DataError(f"{' and '.join(marks)}: a changelog has one of them")
        if not marks:
            self.pipeline.insert(table.name, rows)
            return
        (mark,) = marks
        fields = (*(replace(one, nullable=True) for one in table.schema), Field(mark, _MARKS[mark.lower()]))
        timezone = self.pipeline.program.timezone
        marked = replace(table, schema=fields, primary_key=(), formulas=(), checks=())
        records = whole_rows(marked, rows, timezone, retracted=True)
        logged = replace(table, changelog="upsert" if table.primary_key else "retract")
        changed, weights = read_changes(logged, records, timezone, own=True)
        if table.append_only and (weights < 0).any():
            raise BadRow(table.name, "a retraction; the table is append-only", int(np.argmax(weights < 0)))
        self.pipeline.change(table.name, changed, weights)

    def _delete(self, table: Table, rows: Rows) -> None:
        self.pipeline.delete(table.name, rows)

    def _replace(self, table: Table, rows: Rows) -> None:
        self.pipeline.replace(table.name, rows)

    async def _stepped(self, request: Request, queue: Queue) -> Response:
        key = request.headers.get(KEY, "")
        if len(key) > 200 or not key.isascii():
            raise DataError("Idempotency-Key: at most 200 ASCII characters")
        return json_response(await self.stepped(queue, key))

    async def stepped(self, queue: Queue, key: str = "") -> dict[str, object]:
        """Make a step of what `queue` queues, in its turn. Raises what it raises; then nothing is queued."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._make, key, queue)

    def _make(self, key: str, queue: Queue) -> dict[str, object]:
        pipeline = self.pipeline
        if self.waits:
            raise Refused(503, f"no step is made: {self.waits}; send it again later")
        with pipeline.turn:
            before = pipeline.requested(key) if key else None
            if before is not None:
                return {"step": before, "repeated": True}
            late: Error | None = None
            try:
                queue()
                changes = pipeline.step(request=key)
            except (DeliveryError, CallbackError) as error:
                if error.changes is None:
                    pipeline.discard()
                    raise Refused(503, f"no step is made: {error}") from error
                changes, late = error.changes, error
            except BaseException:
                pipeline.discard()
                raise
            self.made(changes)
        views = {name: len(changes[name]) for name in changes if len(changes[name])}
        answer: dict[str, object] = {"step": changes.step, "changed": views}
        if changes.metrics.late:
            answer["late"] = changes.metrics.late
        if late is not None:
            answer["warning"] = without_path(late, pipeline.store.root)
        return answer


async def _body(request: Request) -> bytes:
    """Raises Refused where it is larger than LARGEST, before all of it is here."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise Refused(413, f"a request has at most {LARGEST >> 20} MB; send the rows in several")
        parts.append(part)
    return b"".join(parts)


def _decoded(
    table: Table, rows: list[dict[str, Any]], types: Mapping[str, pa.DataType]
) -> list[dict[str, Any]]:
    """JSON values as Python's. JSON is Python's objects already: who has many rows sends them as Arrow."""
    decoded = []
    for number, row in enumerate(rows):
        try:
            decoded.append(decode_row(row, types))
        except ValueError as error:
            raise BadRow(table.name, str(error), number) from None
    return decoded
