"""What steps change in a view, as they are made: server-sent events, and a stream of Arrow batches.

    GET /views/{name}/changes?since=n        since: the step whose rows the client has; unless given, the last

An event is `{"step": n, "rows": [{..., "__weight": w}, ...]}`; a large step is several, of which the last has
the step as its id. So a browser that lost the connection goes on where it was (`Last-Event-ID`). A step that
is not kept any more is an event `gone`: read the view, and go on from its step. An Arrow stream has columns
`__step` and `__weight` besides, and ends before such a step; `until=n` ends either at a step, `until=last` at
the last.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dbsp.circuits.columns.json_text import objects
from dbsp.circuits.columns.months import batch_to_calendar
from dbsp.circuits.errors import DataError, NotKept, StateError
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.answers import Refused, whole
from dbsp.serving.feed import BEAT, Feed
from dbsp.serving.formats import ARROW, EVENTS, form_of
from dbsp.sql.plans.program import STEP
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import changes_schema, output_view

FORMS = (EVENTS, ARROW)
# rows of an event
ROWS = 5000
AT_ONCE = 1000


Spelled = TypeVar("Spelled")


class Gone(NotKept):
    """A step that a follower would need."""

    def __init__(self, step: int) -> None:
        super().__init__(f"step {step} isn't kept any more: read the view, and follow it from its step")
        self.step = step


@dataclass
class Subscriptions:
    """The open ones are counted: there are at most AT_ONCE."""

    pipeline: Pipeline
    feed: Feed
    open: int = 0

    async def changes(self, request: Request) -> Response:
        """What the steps after one change in a view."""
        view = output_view(self.pipeline.program, request.path_params["name"])
        form = form_of(request.query_params.get("format"), request.headers.get("accept", "*/*"), FORMS)
        since = self.since(request.headers.get("last-event-id") or request.query_params.get("since"))
        until = self._until(request.query_params.get("until"))
        if since < self.pipeline.last_step:  # one that can't begin is told so by its status
            await self.feed.spelled(view, since + 1, "size", lambda _, changes: len(changes))
        self.check_room()
        if form == ARROW:
            schema = self.schema(view)
            spell: Callable[[int, ViewChanges], list[bytes]] = _arrow(schema)
            head = schema.serialize().to_pybytes()
        else:
            spell, head = _events, b"retry: 1000\n\n"
        body = self._stream(view, since, form, spell, head, until)
        return StreamingResponse(body, media_type=form, headers={"Cache-Control": "no-store"})

    def check_room(self) -> None:
        """Raises Refused."""
        if self.open >= AT_ONCE:
            raise Refused(503, f"{AT_ONCE} subscribers are connected; try again later")

    @contextmanager
    def counted(self) -> Iterator[None]:
        """The block is one that follows."""
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1

    def since(self, text: str | None) -> int:
        """The step after which a client wants changes; None: the last. Raises DataError."""
        step = self._step(text, "since")
        return self.pipeline.last_step if step is None else step

    def _until(self, text: str | None) -> int | None:
        """The step that the changes end with; None: those to come are waited for. Raises DataError."""
        return self.pipeline.last_step if text == "last" else self._step(text, "until", "until=last, or ")

    def _step(self, text: str | None, name: str, otherwise: str = "") -> int | None:
        step, last = whole(text, name), self.pipeline.last_step
        if step is not None and step > last:
            raise DataError(f"{name}={step}; give {otherwise}the number of a step, from 0 to {last}")
        return step

    def schema(self, view: str) -> pa.Schema:
        """The columns of changes: the view's, and those that `marked` adds."""
        none = pa.RecordBatch.from_pylist([], changes_schema(self.pipeline.program, view))
        marks = [pa.field(STEP, pa.int64(), False), pa.field(WEIGHT, pa.int64(), False)]
        return pa.schema([*batch_to_calendar(none).schema, *marks])

    async def followed(
        self, view: str, step: int, form: str, spell: Callable[[int, ViewChanges], Spelled], until: int | None
    ) -> AsyncIterator[Spelled | None]:
        """What each step after one changes, as it is made; None: a sign of life. until: the last; None: none.

        Raises Gone.
        """
        with self.counted():
            while until is None or step < until:
                if await self.feed.after(step, BEAT):
                    step += 1
                    try:
                        yield await self.feed.spelled(view, step, form, spell)
                    except StateError:
                        raise Gone(step) from None
                elif self.feed.ended:
                    return
                else:
                    yield None

    async def _stream(
        self,
        view: str,
        step: int,
        form: str,
        spell: Callable[[int, ViewChanges], list[bytes]],
        head: bytes,
        until: int | None,
    ) -> AsyncIterator[bytes]:
        yield head
        beat = [b":\n\n"] if form == EVENTS else []
        try:
            async for pieces in self.followed(view, step, form, spell, until):
                for piece in beat if pieces is None else pieces:
                    yield piece
        except Gone as gone:
            if form == EVENTS:
                yield f"event: gone\ndata: {json.dumps({'step': gone.step})}\n\n".encode()
            return
        if form == ARROW and not self.feed.ended:
            yield _END


def marked(schema: pa.Schema, step: int, changes: ViewChanges) -> pa.RecordBatch:
    """A step's changes in a view, with `__step` and `__weight`. schema: of `Subscriptions.schema`."""
    shown = batch_to_calendar(changes.zset.rows)
    steps = pa.array(np.full(shown.num_rows, step, np.int64))
    return pa.RecordBatch.from_arrays([*shown.columns, steps, pa.array(changes.zset.weights)], schema=schema)


def _events(step: int, changes: ViewChanges) -> list[bytes]:
    rows = objects(changes.zset.to_batch())
    if not rows:
        return [f"id: {step}\n\n".encode()]
    events = []
    for at in range(0, len(rows), ROWS):
        more = at + ROWS < len(rows)
        data = f'{{"step": {step}, "more": {json.dumps(more)}, "rows": [{", ".join(rows[at : at + ROWS])}]}}'
        mark = "" if more else f"id: {step}\n"
        events.append(f"{mark}event: changes\ndata: {data}\n\n".encode())
    return events


def _arrow(schema: pa.Schema) -> Callable[[int, ViewChanges], list[bytes]]:
    def spell(step: int, changes: ViewChanges) -> list[bytes]:
        batch = marked(schema, step, changes)
        return [batch.serialize().to_pybytes()] if batch.num_rows else []

    return spell


# of an Arrow stream: a continuation marker and no more
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
