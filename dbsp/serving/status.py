"""How a pipeline is doing.

    GET /status         the last steps, waterlines, what was late or bad, sources and sinks, state
    GET /steps          each step as it is made, from the next one on, a few at once; the size of the state
                        after them; what keeps others from being made; how far a change of the program is:
                        server-sent events
    GET /operators      of each operator the rows and seconds of the last step, and its state

Counts and steps are of this process. What a step was is spelled once, when somebody is told.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.progress.waterline import as_shown
from dbsp.circuits.steps.state import State
from dbsp.pipeline.beside.changing import Changing
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.metrics import Metrics
from dbsp.serving.answers import json_response
from dbsp.serving.following.feed import Feed
from dbsp.serving.following.rounds import Rounds
from dbsp.serving.formats import EVENTS
from dbsp.serving.page.problems import Problem, Problems
from dbsp.serving.subscriptions import Subscriptions
from dbsp.views.changes import Changes
from dbsp.views.outputs import state_of

# steps that are remembered, and kept ones that are listed
STEPS, KEPT = 240, 5000
# seconds between two messages to those who follow: people, who see no more
PAUSE = 0.25


class Status:
    """Told of each step by `made`; of its views the changed rows of each task count. trouble: why no step is
    made, '' while one is. changing: into what the program is being changed.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        feed: Feed,
        subscriptions: Subscriptions,
        trouble: Callable[[], str],
        changing: Changing | None = None,
    ) -> None:
        self._pipeline, self._feed, self._subscriptions = pipeline, feed, subscriptions
        self._trouble = trouble
        self._changing = changing
        self._began = datetime.now(UTC)
        self._steps: deque[tuple[int, dict[str, object]]] = deque(maxlen=STEPS)
        self._told = 0
        self.rounds = Rounds(lambda: self._told, shortest=PAUSE)
        self._message = (0, 0), b""
        self._late: Counter[str] = Counter()
        self._bad = 0
        self._last: tuple[int, Metrics] | None = None

    def made(self, changes: Changes) -> None:
        """From any thread, before those who wait for the step are told."""
        metrics = changes.metrics
        self._late.update(metrics.late)
        bad = metrics.rows_in.get(BAD_ROWS, 0)
        self._bad += bad
        one: dict[str, object] = {
            "step": changes.step,
            "at": _spelled(datetime.now(UTC)),
            "clock": None if changes.clock is None else _spelled(changes.clock),
            "seconds": metrics.seconds,
            "phases": metrics.phases,
            "in": {table: rows for table, rows in metrics.rows_in.items() if rows and table != BAD_ROWS},
            "out": {view: rows for view in changes if (rows := metrics.rows_out.get(view, 0))},
            "late": metrics.late,
            "bad": bad,
            "collected": metrics.collected,
            "waterlines": _waterlines(metrics.state),
            "undelivered": self._pipeline.undelivered,
            "oldest": self._pipeline.store.steps[0],
        }
        self._steps.append((changes.step, one))
        self._last = changes.step, metrics
        self._tell()

    def troubled(self) -> None:
        """What keeps steps from being made is another, or none. From any thread."""
        self._tell()

    def progressed(self) -> None:
        """The change of the program is further than it was. From any thread."""
        self._tell()

    def _tell(self) -> None:
        self._told += 1
        self.rounds.tell()

    async def shown(self, request: Request) -> Response:
        """All of it."""
        pipeline, state = self._pipeline, self._state
        program = pipeline.program
        undelivered = pipeline.undelivered
        steps = pipeline.store.steps
        answer: dict[str, object] = {
            "program": program.name,
            "step": pipeline.last_step,
            "trouble": self._wrong,
            "changing": self._change,
            "began": _spelled(self._began),
            "kept": steps[-KEPT:],
            "keep": str(pipeline.store.keep),
            "steps": [one for _, one in list(self._steps)],
            "waterlines": {one.name: None for one in program.circuit.lateness} | _waterlines(state),
            "late": dict(self._late),
            "bad": self._bad,
            "sources": [
                {"table": table.name, "format": table.format}
                for table in program.inputs.values()
                if table.format
            ],
            "sinks": [
                {
                    "table": insert.target,
                    "format": program.tables[insert.target].format,
                    "view": insert.view,
                    "shape": insert.shape,
                    "undelivered": undelivered.get(insert.target),
                }
                for insert in program.inserts
            ],
            **_stored(state),
            "followers": self._subscriptions.open,
        }
        return json_response(answer, headers={"Cache-Control": "no-store"})

    def problems(self, of: Problems) -> list[Problem]:
        """As of now. In any thread: the view of bad rows may have to be read."""
        pipeline = self._pipeline
        bad = pipeline.view(BAD_ROWS) if BAD_ROWS in pipeline else None
        return of.found(dict(self._late), bad, pipeline.undelivered, self._trouble())

    async def operators(self, request: Request) -> Response:
        """By their numbers; rows and seconds are None where this process made no step."""
        step, metrics = self._last or (self._pipeline.last_step, None)
        state = self._state
        rows, sizes = state.rows(), state.bytes()
        found = {
            i: {
                "rows": None if metrics is None else metrics.put_out.get(i, 0),
                "seconds": None if metrics is None else metrics.spent.get(i, 0.0),
                "stored": rows.get(i),
                "bytes": sizes.get(i),
            }
            for i in range(len(self._pipeline.program.circuit.nodes))
        }
        return json_response({"step": step, "operators": found}, headers={"Cache-Control": "no-store"})

    async def follow(self, request: Request) -> Response:
        """Each step to come."""
        self._subscriptions.check_room()
        body = self._stream(self._pipeline.last_step)
        return StreamingResponse(body, media_type=EVENTS, headers={"Cache-Control": "no-store"})

    async def _stream(self, step: int) -> AsyncIterator[bytes]:
        yield b"retry: 1000\n\n"
        wrong, told = "", self.rounds.seen
        change: object = None
        with self._subscriptions.counted():
            while True:
                if wrong != (wrong := self._wrong):
                    yield f"event: trouble\ndata: {json.dumps(wrong)}\n\n".encode()
                if change != (change := self._change):
                    yield f"event: changing\ndata: {json.dumps(change)}\n\n".encode()
                step, message = self._since(step)
                if message:
                    self.rounds.sent(len(message))
                    yield message
                if self.rounds.ended:
                    return
                if not await self.rounds.after(told):
                    yield b":\n\n"
                told = self.rounds.seen

    def _since(self, step: int) -> tuple[int, bytes]:
        """The events of the steps after one, and the last of them."""
        made = [one for one in [*self._steps] if one[0] > step]
        if not made:
            return step, b""
        between = step, made[-1][0]
        if self._message[0] != between:
            texts = [json.dumps(one, ensure_ascii=False) for _, one in made]
            events = [f"event: step\ndata: {text}\n\n" for text in texts]
            events.append(f"event: state\ndata: {json.dumps(_stored(self._state))}\n\n")
            self._message = between, "".join(events).encode()
        return between[1], self._message[1]

    @property
    def _wrong(self) -> str:
        return self._trouble() or ("the pipeline has ended" if self._feed.ended else "")

    @property
    def _change(self) -> dict[str, object] | None:
        changing = self._changing
        if changing is None:
            return None
        return {
            "views": changing.views,
            "rows": changing.rows,
            "of": changing.total,
            "trouble": changing.trouble,
            "waits": changing.waits,
        }

    @property
    def _state(self) -> State:
        """After the last step."""
        if self._last is not None:
            return self._last[1].state
        return state_of(self._pipeline.program, self._pipeline.store.last)


def _stored(state: State) -> dict[str, object]:
    return {"rows": sum(state.rows().values()), "bytes": sum(state.bytes().values())}


def _waterlines(state: State) -> dict[str, object]:
    """Those that there are, as text."""
    return {name: str(scalar.as_py()) for name, scalar in as_shown(state.waterlines).items()}


def _spelled(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")
