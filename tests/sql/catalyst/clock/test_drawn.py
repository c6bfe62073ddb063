"""What a DEFAULT may draw: the same in each compilation, another for each call and column."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.operators.inputs.defaults import ARRIVED
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark


def defaults(spark: Any, *columns: str) -> list[Any]:
    text = f"CREATE TABLE t (k INT, {', '.join(columns)}); CREATE VIEW v AS SELECT k FROM t"
    return [one.value for one in compile_program(text, session=spark).tables["t"].defaults]


def test_each_call_draws_for_itself_and_always_the_same(spark: Any) -> None:
    columns = (
        "a STRING DEFAULT uuid()",
        "b STRING DEFAULT concat(uuid(), uuid())",
        "c DOUBLE DEFAULT rand(3)",
    )
    a, b, c = found = defaults(spark, *columns)
    assert found == defaults(spark, *columns)
    first, second = b.arguments
    assert len({a, first, second}) == 3
    assert (a.function, c.function) == ("drawn_uuid", "drawn_double")
    assert {*columns_of(c)} == {0, ARRIVED.index}


def test_the_place_needs_no_clock(spark: Any) -> None:
    whole, part = defaults(
        spark, "a BIGINT DEFAULT monotonically_increasing_id()", "b INT DEFAULT uniform(1, 6) * 2"
    )
    assert whole == ARRIVED
    assert {*columns_of(part)} == {0, ARRIVED.index}


@pytest.mark.parametrize("call", ["randn()", "randstr(3)", "spark_partition_id()", "input_file_name()"])
def test_what_is_random_otherwise_is_refused(spark: Any, call: str) -> None:
    with pytest.raises(ProgramError, match="is no constant; it is one, or made of now"):
        defaults(spark, f"a STRING DEFAULT {call}")
