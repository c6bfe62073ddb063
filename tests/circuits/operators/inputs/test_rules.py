"""Rows are judged one by one, however many come at once; what only the step knows waits for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.inputs.defaults import ARRIVED, Default
from dbsp.circuits.operators.inputs.rules import Check, Formula, Rules, broken, evaluated
from dbsp.circuits.progress.waterline import CLOCK
from tests.effort import examples

INT = pa.int32()
ANSI = (("evalMode", "ANSI"),)
A, B, T = Column(0, INT), Column(1, INT), Column(3, CLOCK.type)
QUOTIENT = Call("integral_divide", (A, B), pa.int64(), True, ANSI, "a DIV b")
NAMES = ["a", "b", "q", "t"]
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def batch(rows: list[tuple[int | None, ...]], times: list[datetime | None] | None = None) -> pa.RecordBatch:
    a, b, q = (pa.array([row[i] for row in rows], [INT, INT, pa.int64()][i]) for i in range(3))
    t = pa.array(times or [NOON] * len(rows), CLOCK.type)
    return pa.RecordBatch.from_arrays([a, b, q, t], names=NAMES)


def less(left: Column | Call, value: int) -> Call:
    return Call("less_than", (left, Literal(value, left.type)), pa.bool_())


@examples(40)
@given(
    given=st.lists(
        st.tuples(
            st.none() | st.integers(-3, 9), st.none() | st.integers(-1, 2), st.none() | st.integers(-9, 9)
        ),
        max_size=30,
    )
)
def test_each_row_is_judged_as_if_it_came_alone(given: list[tuple[int | None, ...]]) -> None:
    rules = Rules(
        (), (Formula(2, QUOTIENT),), (Check("CHECK (a < 8)", less(A, 8)), Check("c", less(QUOTIENT, 3)))
    )
    whole, refused = rules.judged(batch(given))
    for i, (a, b, q) in enumerate(given):
        why = refused.get(i)
        if a is not None and b == 0:
            assert why is not None and why.startswith("column 'q' can't be computed: a DIV b where a=")
            continue
        known = None if a is None or b is None else int(a / b)
        assert whole.column(2)[i].as_py() == known
        if q is not None and q != known:
            assert why is not None and f"and isn't q={q}; leave it out" in why
        elif a is not None and a >= 8:
            assert why == f"CHECK (a < 8) isn't met: a={a}"
        elif known is not None and known >= 3:
            assert why == f"c isn't met: a={a}, b={b}"
        else:
            assert why is None
    assert [*refused] == sorted(refused)


def test_zeros_are_one_number() -> None:
    rows = pa.RecordBatch.from_pydict(
        {"x": pa.array([0.0, -0.0, float("nan")]), "y": pa.array([-0.0, 0.0, float("nan")])}
    )
    assert Rules((), (Formula(1, Column(0, pa.float64())),), ()).judged(rows)[1] == {}


def test_what_reads_a_default_of_the_step_waits() -> None:
    late = Call("less_than", (Column(3, CLOCK.type), Literal(NOON, CLOCK.type)), pa.bool_())
    rules = Rules(
        (Default(1, Literal(2, INT)), Default(3, Column(0, CLOCK.type))),
        (Formula(2, QUOTIENT),),
        (Check("late", late),),
    )
    whole, refused = rules.judged(batch([(6, None, None), (6, 3, None)], [None, NOON]))
    assert whole.column(2).to_pylist() == [3, 2]
    assert whole.column(1).to_pylist() == [None, 3]  # it is the step that fills it in
    assert [*refused] == [1]
    drawn = Rules((Default(0, ARRIVED),), (Formula(2, QUOTIENT),), (Check("small", less(A, 3)),))
    whole, refused = drawn.judged(batch([(None, 1, None), (4, 1, None), (None, 1, 7)]))
    assert whole.column(2).to_pylist() == [None, 4, None]
    assert [*refused] == [1, 2]


def test_the_values_of_some_rows() -> None:
    rows = batch([(4, 2, None), (4, 0, None), (4, 1, None), (None, 0, None)])
    values, failed = evaluated(QUOTIENT, rows, pa.array([0, 1, 3]).to_numpy())
    assert values.to_pylist() == [2, None, None] and [*failed] == [1]
    assert len(evaluated(QUOTIENT, rows.slice(0, 0), pa.array([], pa.int64()).to_numpy())[0]) == 0


def test_of_rows_that_are_there_the_first_is_told() -> None:
    rows = batch([(None, 2, None), (1, 0, None), (9, 0, None)])
    assert broken((Check("CHECK (a < 8)", less(A, 8)),), rows) == "CHECK (a < 8) isn't met: a=9"
    assert broken((Check("CHECK (a < 10)", less(A, 10)),), rows) is None
    with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
        broken((Check("c", less(QUOTIENT, 3)),), rows)
