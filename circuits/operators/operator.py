"""What an operator of a circuit is.

An operator is a frozen value: its parameters, from which its equation follows. It keeps nothing between
steps; all state of a circuit is in the traces of its `Integrate` and `Upsert` nodes (and in the
one-step memories `Delay` and `Differentiate`, which are traces of their own).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.progress.percentile import Recent
from dbsp.circuits.progress.waterline import Waterlines, later
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

# Columns of an output by whose hash its rows lie in partitions; None: anywhere.
Placement = tuple[int, ...] | None
Value = ZSet | Integral
# A trace as it stands between two steps, read when it is asked for; its delta is empty.
Standing = Callable[[], Integral]
# What bounds a relation's size, in words; each once.
Reasons = tuple[str, ...]

# a delta costs its size
LINEAR = "linear"


@dataclass
class Context:
    """What a step knows beside its inputs, and what operators tell it beside their outputs.

    owns_empty_key: whether this task's partition holds the row that no column places (global aggregates,
    constants). waterlines: as of the step before. candidates: what this step's rows prove of the next ones.
    late: rows left out, per relation. recent, risen: per percentile waterline, the last event times as of the
    step before, and as of this one. ending: no input will follow. advances: where the step moves
    waterlines to, without a row.
    """

    seed: int
    step: int
    clock: datetime | None
    owns_empty_key: bool
    waterlines: Waterlines = field(default_factory=dict)
    candidates: dict[str, pa.Scalar] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    recent: Mapping[str, Recent] = field(default_factory=dict)
    risen: dict[str, Recent] = field(default_factory=dict)
    ending: bool = False
    advances: Waterlines = field(default_factory=dict)

    @property
    def first(self) -> bool:
        """Nothing was ever stepped, so that constant relations enter now."""
        return self.step == 1

    def report(self, waterline: str, candidate: pa.Scalar) -> None:
        """Rows of this step prove that the waterline may rise to `candidate`."""
        greatest = later(self.candidates.get(waterline), candidate)
        assert greatest is not None
        self.candidates[waterline] = greatest

    def count_late(self, relation: str, rows: int) -> None:
        self.late[relation] = self.late.get(relation, 0) + rows


class Operator(ABC):
    """Stateless operators define `step`; stateful ones define `layout` and `integrate`.

    An operator answers for itself: whatever the rest of the project has to know of it is asked here, and one
    that leaves a question open can't be made. `families.py` has the answers that several give alike.

    is_trace: its trace is the integral of what it puts out, so that others may look rows up in it.
    gathered: its whole trace belongs to the first partition.
    history: what it follows from beside what its inputs hold, in words: of that, nothing can be computed anew
    from their contents. Of most operators there is nothing.
    """

    is_trace: ClassVar[bool] = False
    history: ClassVar[str] = ""

    @property
    def keeps_rows(self) -> bool:
        """Whether its trace is the rows of its input, all of each, so that it may be a bag of them."""
        return False

    gathered: bool = False

    @property
    @abstractmethod
    def cost(self) -> str:
        """What a delta of d rows costs, for people.

        'linear': O(d); 'lookup': O(d log n) in a trace of n rows, plus the rows put out; 'touched groups':
        what is kept of each group in the delta, a row of accumulators or all its values; 'touched
        partitions': all rows of each partition in the delta, or its first few; 'rows near the changed ones',
        'rows from the first changed one on', 'sessions near the changed rows': of such a
        partition; 'every row's frame for f': for each of those rows all rows that f is computed of.
        """

    @property
    def costs_more(self) -> bool:
        """Whether a delta costs more than its size."""
        return self.cost != LINEAR

    @abstractmethod
    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        """The schema of the output."""

    @abstractmethod
    def placement(self, *inputs: Placement) -> Placement:
        """Where the output's rows lie, given where the inputs' do."""

    def layout(self, *inputs: pa.Schema) -> Layout | None:
        """How the operator's trace is stored; None: it has none."""
        return None

    def step(self, context: Context, *inputs: Value) -> Value:
        """The output's delta from the inputs' deltas and traces.

        An operator without a trace answers it, one with a trace `integrate`: as `layout` says.
        """
        raise NotImplementedError(type(self).__name__)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Value:
        """Like `step`, for an operator with a trace: `before` is the trace up to the last step.

        What is to be added to the trace is the `delta` of the returned Integral.
        """
        raise NotImplementedError(type(self).__name__)

    @abstractmethod
    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """What a legal node of it satisfies: types, placement, traces. `legal.py` has what several ask.

        Raises AssertionError, whose message begins with `where`.
        """

    @abstractmethod
    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """What waterlines prove of the output, given what they prove of the inputs (`progress/bounds.py`).

        {} proves nothing; of anything else the docstring has the argument.
        """

    @abstractmethod
    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Which rows of an input's trace it can still look at: none for which one of the limits holds.

        (): any row, at any time. None: it takes the step's change alone. inputs: bounds of all inputs.
        """

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        """The same of its own trace, if it has one: of all of it, unless it says less."""
        return ()

    def takes_bag(self, position: int) -> bool:
        """Whether an input's trace may list a row several times, its weights unadded, and nothing changes.

        Of a stream that is always so.
        """
        return False

    @abstractmethod
    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        """(input, its column) of which the output's column has the values; None: it is made of several."""

    def computed_by(self, column: int) -> Sequence[Expression] | None:
        """Of a column with an origin, what it is computed by over that input, one expression a kind of rows
        (none of those that have a constant there); None: it has the values as they are.
        """
        return None

    @abstractmethod
    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        """The columns of an input that make a difference where the output's `needed` ones do.

        schema: of that input.
        """

    @abstractmethod
    def retracts(self, inputs: Sequence[bool]) -> bool:
        """Whether it may put out a negative weight, given which of the inputs may."""

    @abstractmethod
    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """What bounds the sum of all its deltas, given what bounds that of each input's; None: nothing does.

        What depends on no input is taken for its own: it holds the output whatever the inputs grow to.
        """

    def rows_a_value(self, width: int) -> tuple[tuple[int, ...], str] | None:
        """(columns, why): there are as many rows put out as these columns have values, times a constant.

        why: in words, where they are none. width: of the output. None: no columns tell its rows apart.
        """
        return (tuple(range(width)), "being one row") if width else None

    def reduced(self, delta: ZSet, rows: np.ndarray, seed: int) -> ZSet | None:
        """What it has to know of some rows of its input's delta, whatever the others are; None: all."""
        return None

    def own_bound(self) -> str | None:
        """What takes rows out of its own trace again, in words; None: the trace holds what it puts out."""
        return None

    def alters(self, position: int) -> bool:
        """Whether the clock changes rows that lie in an input's trace, again and again."""
        return False

    def compares_times(self, position: int) -> bool:
        """Whether rows of an input's trace are needed as long as a time of the other inputs may be near."""
        return False

    @abstractmethod
    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """The first clock after `now` at which its output changes though no input does; None: it never does.

        In microseconds since 1970. own, inputs: their traces, of nodes that have one. A clock that is too
        early costs a step that finds nothing to do; one that is too late leaves a wrong view.
        Raises EvaluationError.
        """

    def waiting(self, node: int, inputs: Sequence[int]) -> Sequence[int]:
        """The nodes in whose traces rows are that the end of all input lets go. node, inputs: its own."""
        return ()

    @abstractmethod
    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        """Its parameters for people, with columns by name. names: of the output's columns."""


@dataclass(frozen=True)
class Node:
    """An operator in a circuit. inputs: positions of earlier nodes. name: the view or table it stands for,
    for people.
    """

    operator: Operator
    inputs: tuple[int, ...]
    schema: pa.Schema
    placement: Placement
    level: int
    name: str = ""


def delta_of(value: Value) -> ZSet:
    """This step's change, of a stream or of a trace."""
    return value.zset if isinstance(value, Integral) else value
