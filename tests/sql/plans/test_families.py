"""What a family's members answer alike: their inputs, and how others take their place."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.families import Leaf, OneInput, TwoInputs
from dbsp.sql.plans.nodes import Distinct, SetOperation
from tests.sql.hand_made import T, U

BOTH = SetOperation(T, U, "except", T.schema)


def test_inputs_in_order() -> None:
    assert (T.inputs, Distinct(T).inputs, BOTH.inputs) == ((), (T,), (T, U))
    assert [
        isinstance(plan, family) for plan, family in ((T, Leaf), (Distinct(T), OneInput), (BOTH, TwoInputs))
    ] == [True] * 3


def test_others_take_their_place() -> None:
    assert T.over() is T
    assert Distinct(T).over(U) == Distinct(U)
    assert BOTH.over(U, T) == SetOperation(U, T, "except", T.schema)


def test_as_many_as_there_were() -> None:
    for plan, inputs in ((Distinct(T), (T, U)), (BOTH, (T,))):
        with pytest.raises(ValueError, match="to unpack"):
            plan.over(*inputs)
