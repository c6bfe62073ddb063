"""What steps change in a view, as they are made: server-sent events, and a stream of Arrow batches.

    GET /views/{name}/changes?since=n        since: the step whose rows the client has; unless given, the last

An event is `{"step": n, "rows": [{..., "__weight": w}, ...]}`; a large step is several, of which the last has
the step as its id. Each step has its event; where steps come fast, several come together. So a browser that
lost the connection goes on where it was (`Last-Event-ID`). A step that is not kept any more is an event
`gone`: read the view, and go on from its step. An Arrow stream has columns `__step` and `__weight` besides,
and ends before such a step; `until=n` ends either at a step, `until=last` at the last.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dbsp.circuits.columns.forms.json_text import object_texts
from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.errors import DataError, NotKept, StateError
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.answers import Refused, whole
from dbsp.serving.following.feed import ROWS, Feed, Spell
from dbsp.serving.formats import ARROW, EVENTS, form_of
from dbsp.sql.plans.program import STEP
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import changes_schema, output_view
from dbsp.views.shown import shown

FORMS = (EVENTS, ARROW)
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
            await asyncio.to_thread(self.feed.size, view, since + 1)
        self.check_room()
        if form == ARROW:
            schema = self.schema(view)
            spell: Spell[list[bytes]] = _arrow(schema)
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
        return pa.schema([*batch_to_outside(none).schema, *marks])

    async def followed(
        self, view: str, step: int, form: str, spell: Spell[Spelled], until: int | None
    ) -> AsyncIterator[Spelled | None]:
        """What the steps after one change, as they are made, of some of them at once; None: a sign of life.

        until: the last; None: none. Raises Gone.
        """
        rounds = self.feed.rounds
        with self.counted():
            while until is None or step < until:
                if await rounds.after(step):
                    try:
                        step, spelled = await self.feed.spelled(view, step, until, form, spell)
                    except StateError:
                        raise Gone(step + 1) from None
                    yield spelled
                elif rounds.ended:
                    return
                else:
                    yield None

    async def _stream(
        self,
        view: str,
        step: int,
        form: str,
        spell: Spell[list[bytes]],
        head: bytes,
        until: int | None,
    ) -> AsyncIterator[bytes]:
        yield head
        beat = [b":\n\n"] if form == EVENTS else []
        try:
            async for pieces in self.followed(view, step, form, spell, until):
                for piece in beat if pieces is None else pieces:
                    self.feed.rounds.sent(len(piece))
                    yield piece
        except Gone as gone:
            if form == EVENTS:
                yield f"event: gone\ndata: {json.dumps({'step': gone.step})}\n\n".encode()
            return
        if form == ARROW and not self.feed.ended:
            yield _END


def marked(schema: pa.Schema, step: int, changes: ViewChanges) -> pa.RecordBatch:
    """A step's changes in a view, with `__step` and `__weight`. schema: of `Subscriptions.schema`."""
    delta = changes.added_up
    shown = batch_to_outside(delta.rows)
    steps = pa.array(np.full(shown.num_rows, step, np.int64))
    return pa.RecordBatch.from_arrays([*shown.columns, steps, pa.array(delta.weights)], schema=schema)


def _events(steps: Sequence[tuple[int, ViewChanges]]) -> list[bytes]:
    """Pieces of one message, the events of a large step apart."""
    pieces, small = [], ""
    for step, changes in steps:
        *before, last = _texts(changes.added_up.to_batch())
        pieces += [_event(step, text, more=True).encode() for text in before]
        small += _event(step, last) if last else f"id: {step}\n\n"
    return [*pieces, small.encode()]


def _event(step: int, rows: str, more: bool = False) -> str:
    mark = "" if more else f"id: {step}\n"
    return f'{mark}event: changes\ndata: {{"step": {step}, "more": {json.dumps(more)}, "rows": [{rows}]}}\n\n'


def _texts(rows: pa.RecordBatch) -> list[str]:
    """The objects of so many rows each, the last of which are perhaps none."""
    found = []
    for at in range(0, max(1, rows.num_rows), ROWS):
        listed = object_texts(shown(rows.slice(at, ROWS)))
        whole = pa.ListArray.from_arrays(pa.array([0, len(listed)], pa.int32()), listed)
        found.append(pc.binary_join(whole, ", ")[0].as_py())
    return found


def _arrow(schema: pa.Schema) -> Spell[list[bytes]]:
    def spell(steps: Sequence[tuple[int, ViewChanges]]) -> list[bytes]:
        batches = [marked(schema, step, changes) for step, changes in steps]
        return [batch.serialize().to_pybytes() for batch in batches if batch.num_rows]

    return spell


# of an Arrow stream: a continuation marker and no more
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
