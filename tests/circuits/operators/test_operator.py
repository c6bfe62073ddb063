"""An operator answers for itself: one that leaves a question open is refused, by name."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

from dbsp.circuits import operators as package
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.clock.timed_projection import TimedProjection
from dbsp.circuits.operators.emission.timers import Timers
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.linear import Negate
from dbsp.circuits.operators.operator import Operator

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


@pytest.mark.slow
def test_who_takes_the_clock_says_itself_when_it_wakes_up() -> None:
    clocked = {kind for kind in operators() if takes_the_clock(kind)}
    assert {Ahead, Timers, TimedProjection, Trigger} <= clocked
    assert [kind.__name__ for kind in clocked if "wakeup" not in vars(kind)] == []
