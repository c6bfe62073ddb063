"""At most one row of a key: its values, or an error that says so."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.catalyst.joins.single import single, single_row
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.nodes import Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema
from dbsp.sql.plans.verify import verify
from dbsp.sql.text.tokens import Slice
from tests.sql.hand_made import INT, T, column, rows_of, schema
from tests.sql.recorded import plan_of
from tests.sql.text.reading import source_of

QUERY = Query(source_of("SELECT (SELECT b)"), Slice("SELECT (SELECT b)", 0), [])
NODE = {"c": "ScalarSubquery", "s": [7, 16]}


def values_of(keys: int) -> Plan:
    """Of each key a, or of all rows, the value of b."""
    grouped = single(QUERY, NODE, T, tuple(map(column, range(keys))), (column(1),))
    verify(grouped)
    every = columns_of_schema(grouped.schema)
    return Project(grouped, (*every[:keys], single_row(every[-2], every[-1])), schema("a", "b")[-1 - keys :])


def test_the_value_of_a_keys_only_row() -> None:
    bags = {"t": [(1, 5, 0, 0), (2, None, 0, 0), (None, 7, 0, 0)]}
    assert rows_of(values_of(1), bags) == {(1, 5): 1, (2, None): 1, (None, 7): 1}


def test_of_no_rows_it_is_null() -> None:
    assert rows_of(values_of(0), {"t": []}) == {(None,): 1}


@pytest.mark.parametrize("twice", [(1, 5, 0, 0), (1, None, 0, 0)])
def test_a_second_row_is_an_error_even_if_it_is_the_same(twice: tuple[int, ...]) -> None:
    with pytest.raises(DataError, match="More than one row"):
        rows_of(values_of(1), {"t": [(1, 5, 0, 0), twice]})


def test_a_correlated_one() -> None:
    plan = plan_of("SELECT a, (SELECT u.b FROM u WHERE u.a = t.a) AS s FROM t")
    bags = {
        "t": [(1, 0, 0, 0), (2, 0, 0, 0), (None, 0, 0, 0)],
        "u": [(1, 5, 0, 0), (None, 6, 0, 0), (3, 7, 0, 0)],
    }
    assert rows_of(plan, bags) == {(1, 5): 1, (2, None): 1, (None, None): 1}
    # several rows of a key that no row asks for are no error
    assert rows_of(plan, {"t": [(1, 0, 0, 0)], "u": [(3, 7, 0, 0)] * 2}) == {(1, None): 1}
    with pytest.raises(DataError, match="More than one row"):
        rows_of(plan, {"t": [(3, 0, 0, 0)], "u": [(3, 7, 0, 0)] * 2})


def test_values_without_an_order_are_refused() -> None:

    with pytest.raises(ProgramError, match=r"p.sql:1:8: not supported yet: a scalar subquery of type list"):
        single(QUERY, NODE, T, (), (Column(0, pa.list_(INT)),))
