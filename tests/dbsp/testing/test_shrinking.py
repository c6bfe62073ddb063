"""What is left fails still, and nothing of it can be left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.testing.shrinking import Shrinking


def _needs(*wanted: int):
    return lambda steps: set(wanted) <= {item for step in steps for item in step}


def test_only_what_fails_is_left():
    assert Shrinking(_needs(3, 7)).shrink([[1, 2, 3], [4, 5], [6, 7, 8]]) == [[3, 7]]


def test_steps_stay_apart_where_that_is_what_fails():
    def fails(steps: list[list[int]]) -> bool:
        return len(steps) > 1 and 1 in steps[0] and 9 in steps[-1]

    assert Shrinking(fails).shrink([[0, 1], [2, 3], [4], [5, 9]]) == [[1], [9]]


def test_a_single_item_that_fails_stays():
    assert Shrinking(lambda steps: True).shrink([[1, 2], [3]]) == [[3]]


def test_trials_run_out():
    asked = []

    def fails(steps: list[list[int]]) -> bool:
        asked.append(steps)
        return _needs(5)(steps)

    found = Shrinking(fails, trials=3).shrink([[n] for n in range(64)])
    assert len(asked) == 3
    assert _needs(5)(found)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=6),
    st.sets(st.integers(0, 9), min_size=1, max_size=3),
)
def test_nothing_of_it_can_be_left_out(steps, wanted):
    fails = _needs(*wanted)
    if not fails(steps):
        return
    (found,) = Shrinking(fails).shrink(steps)
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("steps", [[], [[]]])
def test_nothing_is_nothing(steps):
    assert Shrinking(lambda steps: True).shrink(steps) == []
