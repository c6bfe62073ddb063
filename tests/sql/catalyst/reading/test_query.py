"""Where a dumped node stands in the user's file, and what of it is a type of ours."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst.reading.query import Query, nodes_in
from dbsp.sql.spellings.rewriting import Edit, rewritten
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import source_of

TEXT = "SELECT f(a)\n FROM t LIMIT 3"
TYPES: list[Any] = ["long", "time(9)", "void", {"type": "array", "elementType": "void", "containsNull": True}]


def query_of(text: str = TEXT, before: str = "-- a comment\n") -> Query:
    return Query(source_of(before + text), Slice(text, len(before)), TYPES)


def node(first: int, last: int, name: str = "F", **rest: Any) -> dict[str, Any]:
    return {"c": name, "s": [first, last], "t": 0, "n": True, **rest}


def test_a_nodes_place_is_the_users() -> None:
    query = query_of()
    assert str(query.error(node(7, 10), "no")) == "p.sql:2:8: no"
    assert str(query.refuse(node(13, 18), "this")) == "p.sql:3:2: not supported yet: this"


def test_of_a_rewritten_query_too() -> None:
    source = source_of("SELECT g(a)")
    text = rewritten(source, Slice(source.text, 0), [Edit(7, 11, ("longer(", Slice("a", 9), ", 1)"))])
    query = Query(source, text, TYPES)
    whole = node(7, 17)
    assert str(query.error(whole, "no")) == "p.sql:1:8: no"
    assert query.spelled(whole) == "g(a)"
    assert str(query.error(node(14, 14), "no")) == "p.sql:1:10: no"


def test_where_spark_lost_the_place_it_is_that_of_what_is_inside() -> None:
    query = query_of()
    everything = node(0, len(TEXT) - 1)
    column = node(2, 3, "AttributeReference")
    inside = {**everything, "o": {"condition": column, "more": [node(9, 9)]}}
    assert str(query.error(inside, "no")) == "p.sql:2:10: no"
    assert query.spelled(everything) == ""
    assert query.ends(everything) and not query.ends(node(7, 10))


def test_or_that_of_the_constructs_word() -> None:
    query = query_of(before="CREATE VIEW LIMIT AS ")
    lost = {"c": "F", "o": {}}
    assert str(query.refuse(lost, "LIMIT", "LIMIT")) == "p.sql:2:9: not supported yet: LIMIT"
    assert str(query.refuse(lost, "OVER", "OVER")) == "p.sql:1:22: not supported yet: OVER"


def test_types() -> None:
    query = query_of()
    assert query.value_type(node(7, 10)) == pa.int64()
    assert query.value_type({**node(7, 10), "t": 3}) == pa.list_(pa.null())
    assert query.column_type(node(7, 10), 2) == pa.null()
    with pytest.raises(
        ProgramError, match=r"2:8: not supported yet: type time\(9\) \(finer.*\), which f\(\) gives"
    ):
        query.value_type({**node(7, 10, pretty="f"), "t": 1})
    with pytest.raises(ProgramError, match=r"2:8: not supported yet: a column of type time\(9\)"):
        query.column_type(node(7, 10), 1)


def test_expressions_inside_parents_first_and_none_of_subqueries() -> None:
    value = {
        "c": "A",
        "k": [{"c": "B", "v": {"c": "no"}}, {"c": "C", "plan": {"c": "no"}}],
        "o": {"x": {"c": "D"}},
    }
    assert [n["c"] for n in nodes_in([value])] == ["A", "B", "C", "D"]
