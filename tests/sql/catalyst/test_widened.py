"""What a query is ordered by and doesn't select is taken along; what its rows tell isn't."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.catalyst.widened import widened
from dbsp.sql.compiler.queries.query import QUERY, load_query
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Slice

pytestmark = pytest.mark.spark
V = (Field("a", pa.int64(), False), Field("b", pa.string()), Field("c", pa.int32()))


@pytest.mark.parametrize(
    ("select", "unshown"),
    [
        ("SELECT a FROM v ORDER BY b", 1),
        ("SELECT a FROM v ORDER BY b, a, upper(b), c LIMIT 3 OFFSET 1", 2),
        ("SELECT b, count(*) FROM v GROUP BY b ORDER BY sum(a), max(c)", 2),
        ("SELECT a AS x FROM v ORDER BY x", 0),
        ("SELECT a FROM v ORDER BY a + 1", 0),
        ("SELECT a FROM (SELECT * FROM v ORDER BY b)", 0),
        ("SELECT a FROM v", 0),
    ],
)
def test_how_many_columns_it_has_more(spark: Any, select: str, unshown: int) -> None:
    view = load_query(select, {"v": V}, lambda: spark, "UTC").views[QUERY]
    assert view.unshown == unshown
    names = [field.name for field in view.schema]
    assert names[len(names) - unshown :] == [f"__order{i}" for i in range(unshown)]


def test_only_a_project_that_takes_columns_away_is_left_out() -> None:
    query = Query(as_it_is("SELECT", "q"), Slice("SELECT", 0), [])
    columns = [["a", 1, 0, True, None], ["b", 2, 0, True, None]]
    below = {"op": "Sort", "k": [], "out": columns, "s": [0, 5]}
    narrow = {"op": "Project", "k": [below], "out": columns[:1]}
    assert widened(query, narrow) == (below, 1)
    limited = {"op": "GlobalLimit", "k": [narrow], "out": columns[:1]}
    assert widened(query, limited) == ({"op": "GlobalLimit", "k": [below], "out": columns}, 1)
    inside = {**narrow, "k": [{**below, "s": [0, 2]}]}
    others = (
        below,
        inside,
        {**narrow, "out": columns[1:]},
        {**narrow, "out": columns},
        {**below, "k": [narrow]},
    )
    for other in others:
        assert widened(query, other) == (other, 0)
