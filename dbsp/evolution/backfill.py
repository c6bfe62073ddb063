"""What a state doesn't have of a new program, computed in bounded pieces beside it.

    fill      I(n) of every stream that is given, piece by piece
    follow    I(m) − I(n), where the state has gone on from step n to step m meanwhile

What is computed is a sum over what was fed: after both it is the new program's of step m (see `fill`).
It is in segments that nothing refers to yet.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from dbsp.circuits.errors import BrokenRule, EvaluationError, SharedKey, StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.spine import Spine
from dbsp.evolution.change import Change
from dbsp.evolution.fill import Fill
from dbsp.evolution.given import PIECE
from dbsp.running.runner import Runner, Work
from dbsp.state.records.commits import Commit

Say = Callable[[str], None]


class Abandoned(StateError):
    """Somebody has asked that a back-fill end; nothing has changed."""


@dataclass
class Backfill:
    """One attempt. change: of the step that it begins with. segments: where it reads and writes.

    say: told how far it is. ends: asked between two pieces, whether to give it up.
    state: of the circuit of what is missing. rows, total: read so far, and of how many.
    """

    change: Change
    segments: Segments
    runner: Runner
    partitions: int
    durable: bool
    say: Say = lambda line: None
    ends: Callable[[], bool] = lambda: False
    state: State = field(init=False)
    rows: int = 0
    total: int = 0
    # not after the step that comes next: others may come first, and whoever looks for what a step has left
    # behind looks from there on
    name: str = field(default_factory=lambda: f"evolution-{secrets.token_hex(8)}")
    _steps: int = 0

    def __post_init__(self) -> None:
        self.state = State.empty(self.fill.circuit)
        self._at = self._spines(self.change.last)

    @property
    def fill(self) -> Fill:
        """What is computed."""
        return self.change.filling[0]

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to compute."""
        return bool(self.fill.filled or self.fill.differences or self.fill.given)

    def feed(self, again: Mapping[str, Sequence[Chunk]]) -> None:
        """All that the state had at the step that it begins with. again: what was read again of sources."""
        feeds = {name: given.inputs(self.partitions) for name, given in self.fill.given.items()}
        feeds |= {table: _pieces(chunks) for table, chunks in again.items()}
        self.total = self.change.plan.rows + sum(chunk.rows for chunks in again.values() for chunk in chunks)
        for batches in _together(feeds):
            self._step(batches)

    @property
    def can_follow(self) -> bool:
        """Whether the state may go on meanwhile."""
        return not self.fill.again and all(given.can_follow for given in self.fill.given.values())

    def behind(self, last: Commit) -> int:
        """How many rows are to be read to follow the state to a later step."""
        return sum(part.rows for parts in self._since(last).values() for part in parts)

    def follow(self, last: Commit) -> None:
        """From the step that it is at to a later one of the same program."""
        since = self._since(last)
        if since:
            self.total += sum(part.rows for parts in since.values() for part in parts)
            self._step(since)
        self._at = self._spines(last)

    def _spines(self, last: Commit) -> dict[str, Spine]:
        written: Mapping[str, dict[str, list]] = last.state["spines"]  # type: ignore[type-arg, assignment]
        return {
            name: Spine.from_json(written[given.kept.name]) if given.kept.name in written else Spine()
            for name, given in self.fill.given.items()
        }

    def _since(self, last: Commit) -> dict[str, list[Input]]:
        now = self._spines(last)
        since = {name: given.since(self._at[name], now[name]) for name, given in self.fill.given.items()}
        return {name: parts for name, parts in since.items() if parts}

    def _step(self, batches: Mapping[str, Sequence[Input]]) -> None:
        if self.ends():
            raise Abandoned("the back-fill was given up; nothing has changed")
        self._steps += 1
        step = Step(
            number=self._steps,
            state=self.state,
            segment=f"{self.name}-{self._steps}",
            partitions=self.partitions,
            durable=self.durable,
        )
        work = Work(circuit=self.fill.circuit, step=step, inputs=batches, segments=self.segments)
        try:
            self.state = self.state.apply(self.runner.run(work))
        except EvaluationError as error:
            if error.node is not None and (views := self.change.views_of(error.node)):
                error = error.of_views(views)
            raise error.within("the program can't be changed") from None
        except SharedKey as error:
            raise StateError(
                f"the program can't be changed: {error}, and can't have a PRIMARY KEY that tells them apart; "
                "take them back first, or give the table another name"
            ) from None
        except BrokenRule as error:
            raise StateError(
                f"the program can't be changed: {error}; take such rows back first, or give the table "
                "another name"
            ) from None
        self.rows = min(self.rows + sum(part.rows for each in batches.values() for part in each), self.total)
        if self.total:
            self.say(f"back-filling: {self.rows} of {self.total} rows")


def _pieces(chunks: Sequence[Chunk]) -> Iterator[list[Input]]:
    """As many at a time as have about PIECE rows."""
    parts: list[Input] = []
    rows = 0
    for chunk in chunks:
        parts.append(Input(rows, chunk))
        rows += chunk.rows
        if rows >= PIECE:
            yield parts
            parts, rows = [], 0
    if parts:
        yield parts


def _together(feeds: Mapping[str, Iterator[list[Input]]]) -> Iterator[dict[str, list[Input]]]:
    """The pieces of all sources, one of each at a time; at least once, for what needs no input."""
    names, fed = list(feeds), False
    for pieces in zip_longest(*feeds.values()):
        fed = True
        yield {name: piece for name, piece in zip(names, pieces, strict=True) if piece is not None}
    if not fed:
        yield {}
