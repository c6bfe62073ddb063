"""Where a dumped query reads the clock, and as what."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.sql.catalyst.reading.clock import clock_value, inlined, marks_in, reads_clock, refused
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.clock.readings import NOW
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import source_of

QUERY = Query(source_of("SELECT now()"), Slice("SELECT now()", 0), [], "Europe/Zurich")


def mark(ordinal: int = -1) -> dict[str, Any]:
    return {"c": "BoundReference", "o": {"ordinal": ordinal}, "s": [7, 11]}


def column(id_: int) -> dict[str, Any]:
    return {"c": "AttributeReference", "id": id_, "name": "x"}


def test_a_reading_is_a_time_a_date_or_a_local_time() -> None:
    assert clock_value(QUERY, mark(-1)) == NOW
    for ordinal, data_type in ((-2, pa.date32()), (-3, pa.timestamp("us"))):
        found = clock_value(QUERY, mark(ordinal))
        assert isinstance(found, Call)
        assert (found.arguments, found.type, found.option("timeZoneId")) == (
            (NOW,),
            data_type,
            "Europe/Zurich",
        )


def test_where_it_is_read() -> None:
    inside = {"c": "Add", "k": [column(1), mark()]}
    assert marks_in([inside, inside]) == [mark(), mark()]
    assert reads_clock(inside)
    assert not reads_clock(column(1))
    assert not reads_clock({"c": "ScalarSubquery", "plan": inside})
    assert str(refused(QUERY, inside)).startswith("p.sql:1:8: now() here would change rows in every step")


def test_a_clock_that_spark_computes_below_is_put_back_where_it_is_read() -> None:
    """BETWEEN reads it twice."""
    common = {"c": "Alias", "id": 9, "name": "_common_expr_0", "k": [mark()]}
    below = {
        "op": "Project",
        "out": [["a", 1], ["_common_expr_0", 9]],
        "o": {"projectList": [column(1), common]},
    }
    dumped = {
        "op": "Filter",
        "k": [below],
        "o": {"condition": {"c": "LessThan", "k": [column(1), column(9)]}},
    }
    found = inlined(dumped)
    assert found["o"]["condition"]["k"] == [column(1), mark()]
    assert found["k"][0]["out"] == [["a", 1]]
    assert found["k"][0]["o"]["projectList"] == [column(1)]


def test_what_isnt_a_clock_alone_stays() -> None:
    row = {"c": "Alias", "id": 9, "name": "_common_expr_0", "k": [{"c": "Add", "k": [mark(), column(1)]}]}
    users = {"c": "Alias", "id": 9, "name": "mine", "k": [mark()]}
    for common in (row, users):
        dumped = {"op": "Project", "out": [["x", 9]], "o": {"projectList": [common]}}
        assert inlined(dumped) is dumped
