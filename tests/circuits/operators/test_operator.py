"""An operator answers for itself: one that leaves a question open is refused, by name."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits import operators as package
from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.clock.timed_projection import TimedProjection
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.emission.timers import Timers
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.families import Changes, Keeper, Reader, RowWise, Unchanged, all_of
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.linear import Negate, Source
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.progress.proofs.retention import with_retentions
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.batch import Layout

QUESTIONS = (
    "bounds",
    "cost",
    "held",
    "origin",
    "placement",
    "reach",
    "reads",
    "retracts",
    "schema",
    "shown",
    "verify",
    "wakeup",
)


def answering(questions: Sequence[str]) -> type[Any]:
    return type("Mute", (Operator,), {question: getattr(Negate, question) for question in questions})


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_open_question(question: str) -> None:
    with pytest.raises(TypeError, match=rf"class Mute .*\b{question}\b"):
        answering([other for other in QUESTIONS if other != question])()


def test_no_other_is_asked() -> None:
    answering(QUESTIONS)()


@pytest.mark.parametrize("family", [Changes, RowWise, Unchanged, Keeper, Reader])
def test_no_family_answers_everything(family: type[Any]) -> None:
    with pytest.raises(TypeError, match=family.__name__):
        family()


def operators(kind: type[Operator] = Operator) -> Iterator[type[Operator]]:
    """All of the project's."""
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
    for one in kind.__subclasses__():
        if one.__module__.startswith("dbsp."):
            yield one
            yield from operators(one)


def takes_the_clock(kind: type[Operator]) -> bool:
    """Whether its own methods ask how far the clock has come."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    asked = (ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return "context.clock" in asked or any(ast.unparse(function) == "reached" for function in called)


def test_who_takes_the_clock_says_itself_when_it_wakes_up() -> None:
    clocked = {kind for kind in operators() if takes_the_clock(kind)}
    assert {Ahead, Timers, TimedProjection, Trigger} <= clocked
    assert [kind.__name__ for kind in clocked if "wakeup" not in vars(kind)] == []


def test_what_holds_nothing_but_its_inputs_is_held_by_all_of_them() -> None:
    one, two, both = ("a",), ("b", "a"), ("a", "b")
    assert all_of([one, two]) == both
    assert all_of([one, None]) is None
    assert all_of([]) is None


TIMES = pa.schema([("t", pa.int64())])
LATENESS = Lateness("t.t", 0, pa.int64(), 1)


@dataclass(frozen=True)
class Nosy(Unchanged, Reader):
    """Reads a trace, and may come back to any row of it."""

    @property
    def cost(self) -> str:
        return "lookup"

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        return ()

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


@dataclass(frozen=True)
class Hoard(Unchanged, Keeper):
    """Keeps a trace, and doesn't say which rows of it are needed."""

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, *_: object) -> None:
        """Nothing."""

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(inputs[0], (0,))

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


def read_by(*readers: Operator) -> tuple[Circuit, int]:
    """(the circuit of a trace of times that have a waterline, the trace)"""
    builder = CircuitBuilder(lateness=[LATENESS])
    builder.sources["t"] = builder.add(Source("t", TIMES))
    on_time = builder.add(OnTime("t", (LATENESS,)), builder.sources["t"])
    trace = builder.add(Integrate((0,)), builder.placed(on_time, (0,)))
    for reader in readers:
        builder.add(reader, trace)
    return with_retentions(builder.build()), trace


def test_rows_are_collected_that_no_reader_reaches() -> None:
    circuit, trace = read_by(Distinct())
    assert trace in circuit.retentions


@pytest.mark.parametrize("readers", [(Nosy(),), (Distinct(), Nosy()), (Nosy(), Distinct())])
def test_nothing_is_collected_that_one_reader_may_come_back_to(readers: tuple[Operator, ...]) -> None:
    circuit, trace = read_by(*readers)
    assert trace not in circuit.retentions


def test_nothing_is_collected_of_a_trace_whose_operator_says_nothing_of_it() -> None:
    circuit, trace = read_by(Distinct(), Hoard())
    kept = next(i for i, node in enumerate(circuit.nodes) if isinstance(node.operator, Hoard))
    assert kept in circuit.layouts
    assert set(circuit.retentions) == {trace}
