"""What legal plans have in common, and errors that name the node."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column, Variable
from dbsp.sql.plans.legal import at_fault, check_columns, check_types
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import INT, T, call, column, schema

TEXT = (Field("s", pa.string()),)


def test_types_in_order() -> None:
    check_types(T, (column(0), T.schema[1]), schema("x", "y"))
    for values in ((column(0),), (column(0), Column(1, pa.string())), (column(0), column(1), column(2))):
        with pytest.raises(AssertionError, match=r"^Scan: types .* under a schema of"):
            check_types(T, values, schema("x", "y"))


def test_columns_also_within_calls() -> None:
    nested = call("add", column(0), call("abs", column(3)))
    check_columns(T, (nested, Variable(9, INT)), T.schema)
    with pytest.raises(AssertionError, match=r"^Scan: no column #3 of 3"):
        check_columns(T, (nested,), T.schema[:3])
    with pytest.raises(AssertionError, match=r"^Scan: no column #-1 of 4"):
        check_columns(T, (column(-1),), T.schema)


def test_columns_have_their_types() -> None:
    with pytest.raises(AssertionError, match=r"^Scan: #0 is string, not int64"):
        check_columns(T, (column(0),), TEXT)


def test_a_fault_is_a_nodes() -> None:
    assert at_fault(T, "it has no rows") == "Scan: it has no rows"
