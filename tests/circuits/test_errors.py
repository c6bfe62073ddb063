"""Errors travel from tasks to the driver, and say what, where and what to do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import pytest

import dbsp.errors
from dbsp.circuits.errors import (
    AbsentRow,
    DamagedChunk,
    DataError,
    Error,
    EvaluationError,
    StateError,
    did_you_mean,
)

assert dbsp.errors  # its errors are of the same tree


def kinds(kind: type[Error] = Error) -> Iterator[type[Error]]:
    yield kind
    for one in kind.__subclasses__():
        yield from kinds(one)


MADE = [
    Error("plain"),
    AbsentRow("t", "a=1", "table 't' would have a=1 less than zero times"),
    EvaluationError("DIVIDE_BY_ZERO", "division by zero", 3),
    DamagedChunk("/s/segments/000001", 64, "ends early", "view 'v'"),
    DataError("rows").within("view 'v'"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_a_task_s_error_arrives_whole(error: Error) -> None:
    for arrived in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(arrived) is type(error)
        assert (arrived.args, str(arrived), vars(arrived)) == (error.args, str(error), vars(error))


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.__name__)
def test_every_kind_is_rebuilt_without_its_own_arguments(kind: type[Error]) -> None:
    """Whatever its __init__ takes, what is pickled is the class, its message and its attributes."""
    error = kind.__new__(kind)
    error.args = ("said",)
    error.__dict__["more"] = 1
    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), arrived.args, arrived.more) == (kind, ("said",), 1)


def test_an_expression_s_error_has_its_condition() -> None:
    error = EvaluationError("CAST_INVALID_INPUT", "the value 'x' cannot be cast", 7)
    assert str(error) == "[CAST_INVALID_INPUT] the value 'x' cannot be cast"
    assert (error.condition, error.row, error.expression) == ("CAST_INVALID_INPUT", 7, None)


def test_places_are_named_from_the_outside_in() -> None:
    error = EvaluationError("OVERFLOW", "too large")
    assert error.within("x + 1") is error
    assert str(error.within("view 'v'")) == "view 'v': x + 1: [OVERFLOW] too large"
    assert error.condition == "OVERFLOW"


def test_damage_says_where_and_who_can_help() -> None:
    damaged = DamagedChunk("/s/segments/000001", 64, "ends early", "view 'v'")
    assert str(damaged).startswith(
        "/s/segments/000001: damaged: the chunk of view 'v' at byte 64 ends early; "
    )
    assert "`dbsp fsck /s`" in str(damaged)
    assert "the chunk at byte 0" in str(DamagedChunk("/s/segments/1", 0, "is missing", ""))
    assert isinstance(damaged, StateError)


@pytest.mark.parametrize(
    ("name", "existing", "said"),
    [
        ("amuont", ["id", "amount", "ts"], "; did you mean 'amount'?"),
        ("AMOUNT", ["id", "Amount"], "; did you mean 'Amount'?"),
        ("amount", ["id", "ts"], ""),
        ("x", [], ""),
    ],
)
def test_did_you_mean(name: str, existing: list[str], said: str) -> None:
    assert did_you_mean(name, existing) == said
