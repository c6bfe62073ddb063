"""What steps change in a view, as they are made: server-sent events, and a stream of Arrow batches.

    GET /views/{name}/changes?since=n        since: the step whose rows the client has; unless given, the last

An event is `{"step": n, "rows": [{..., "__weight": w}, ...]}`; a large step is several, of which the last has
the step as its id. So a browser that lost the connection goes on where it was (`Last-Event-ID`). A step that
is not kept any more is an event `gone`: read the view, and go on from its step. An Arrow stream has columns
`__step` and `__weight` besides, and ends before such a step; `until=last` ends either at the last step.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dbsp.circuits.columns.json_text import objects
from dbsp.circuits.columns.months import batch_to_calendar
from dbsp.circuits.errors import DataError, StateError
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.answers import Refused
from dbsp.serving.feed import BEAT, Feed
from dbsp.serving.formats import ARROW, EVENTS, form_of
from dbsp.sql.plans.program import STEP
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import changes_schema, output_view

FORMS = (EVENTS, ARROW)
# rows of an event
ROWS = 5000
AT_ONCE = 1000


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
        since = self._since(request)
        until = request.query_params.get("until")
        if until not in (None, "last"):
            raise DataError(f"until={until}; give until=last, or nothing for all steps to come")
        if since < self.pipeline.last_step:  # one that can't begin is told so by its status
            await self.feed.spelled(view, since + 1, "size", lambda _, changes: len(changes))
        self.check_room()
        if form == ARROW:
            schema = self._schema(view)
            spell: Callable[[int, ViewChanges], list[bytes]] = _arrow(schema)
            head = schema.serialize().to_pybytes()
        else:
            spell, head = _events, b"retry: 1000\n\n"
        body = self._stream(view, since, form, spell, head, until is not None)
        return StreamingResponse(body, media_type=form, headers={"Cache-Control": "no-store"})

    def check_room(self) -> None:
        """Raises Refused."""
        if self.open >= AT_ONCE:
            raise Refused(503, f"{AT_ONCE} subscribers are connected; try again later")

    def _since(self, request: Request) -> int:
        text = request.headers.get("last-event-id") or request.query_params.get("since")
        last = self.pipeline.last_step
        if text is None:
            return last
        if not (text.isdecimal() and text.isascii() and len(text) < 19) or int(text) > last:
            raise DataError(f"since={text}; give the number of a step, from 0 to {last}")
        return int(text)

    async def _stream(
        self,
        view: str,
        step: int,
        form: str,
        spell: Callable[[int, ViewChanges], list[bytes]],
        head: bytes,
        ends: bool,
    ) -> AsyncIterator[bytes]:
        until = self.pipeline.last_step if ends else None
        self.open += 1
        try:
            yield head
            while until is None or step < until:
                if not await self.feed.after(step, BEAT):
                    if self.feed.ended:
                        return
                    if form == EVENTS:
                        yield b":\n\n"
                    continue
                step += 1
                try:
                    pieces = await self.feed.spelled(view, step, form, spell)
                except StateError:
                    if form == EVENTS:
                        yield f"event: gone\ndata: {json.dumps({'step': step})}\n\n".encode()
                    return
                for piece in pieces:
                    yield piece
            if form == ARROW:
                yield _END
        finally:
            self.open -= 1

    def _schema(self, view: str) -> pa.Schema:
        none = pa.RecordBatch.from_pylist([], changes_schema(self.pipeline.program, view))
        marks = [pa.field(STEP, pa.int64(), False), pa.field(WEIGHT, pa.int64(), False)]
        return pa.schema([*batch_to_calendar(none).schema, *marks])


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
        shown = batch_to_calendar(changes.zset.rows)
        steps = pa.array(np.full(shown.num_rows, step, np.int64))
        columns = [*shown.columns, steps, pa.array(changes.zset.weights)]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        return [batch.serialize().to_pybytes()] if batch.num_rows else []

    return spell


# of an Arrow stream: a continuation marker and no more
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
