"""A query over the rows that count gives what it gives over all, errors too; few rows are taken of many."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.answer import answer
from dbsp.queries.narrowing import Narrowing
from dbsp.queries.plans import Plans
from dbsp.views.view import Contents
from tests.dbsp.narrow import narrow_all
from tests.dbsp.views.held import contents
from tests.dbsp.views.test_searched import PARTS
from tests.effort import examples

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("a", pa.int32()), ("b", pa.string()), ("c", pa.decimal128(5, 2))])
OTHER = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.decimal128(5, 2))])
QUERIES = [
    "SELECT v.a, w.b FROM v JOIN w ON v.a = w.a WHERE w.b = 'x'",
    "SELECT v.a, w.b FROM v JOIN w ON v.a = w.a AND v.b = w.b AND v.c < w.c",
    "SELECT * FROM v WHERE a IN (SELECT a FROM w WHERE b = 'x')",
    "SELECT * FROM v WHERE a NOT IN (SELECT a FROM w WHERE b = 'x' AND a IS NOT NULL)",
    "SELECT * FROM v WHERE a NOT IN (SELECT a FROM w WHERE c > 0)",
    "SELECT * FROM v WHERE EXISTS (SELECT 1 FROM w WHERE w.a = v.a AND w.c > v.c)",
    "SELECT * FROM v WHERE EXISTS (SELECT 1 FROM w WHERE w.a = v.a AND w.c > v.c AND w.b <> v.b)",
    "SELECT * FROM v WHERE NOT EXISTS (SELECT 1 FROM w WHERE w.a = v.a AND w.c > v.c AND w.b <> v.b)",
    "SELECT * FROM v WHERE a = (SELECT max(a) FROM w WHERE b = 'x')",
    "SELECT v.a, w.b FROM v LEFT JOIN w ON v.a = w.a AND w.c > 0 WHERE v.b = 'x'",
    "SELECT v.a, w.b FROM v FULL JOIN w ON v.a = w.a AND v.c <> w.c",
    "SELECT v.a FROM v JOIN w ON v.a IS NOT DISTINCT FROM w.a WHERE w.b = 'x' AND w.a IN (1, NULL, 2)",
    "SELECT x.a FROM v x JOIN v y ON x.a = y.a WHERE y.b = 'x'",
    "SELECT a FROM v WHERE b = 'x' UNION ALL SELECT a FROM v WHERE b = 'x' AND a = 1",
    "SELECT a FROM v WHERE a = 1 UNION ALL SELECT a FROM w WHERE b = ''",
    "SELECT v.a, n FROM v JOIN (SELECT a, count(*) AS n FROM w GROUP BY a) AS s ON v.a = s.a WHERE n > 1",
    "SELECT v.a, x.b, y.c FROM v JOIN w x ON v.a = x.a JOIN w y ON y.a = x.a AND y.b = 'x'",
    "SELECT v.b FROM v JOIN w ON v.a = w.a WHERE v.a IN (SELECT a FROM w WHERE c < 0)",
    "SELECT a FROM v WHERE b = 'x' AND (a = 1 OR c > 0)",
    "SELECT a, count(*) AS n FROM v WHERE EXISTS (SELECT 1 FROM w WHERE w.b = v.b) GROUP BY a",
]


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_rows_that_count_give_what_all_give(spark: Any, query: str) -> None:
    plans = Plans(lambda: spark, "UTC")

    @examples(20)
    @given(PARTS, PARTS)
    def holds(v: Any, w: Any) -> None:
        held = {"v": contents(SCHEMA, v), "w": contents(OTHER, w)}
        with pytest.MonkeyPatch.context() as patch, duckdb.connect() as connection:
            for name, each in held.items():
                connection.register(name, each.to_arrow())
            expected = connection.execute(query).fetchall()
            narrow_all(patch)
            for _ in range(2):
                found = [tuple(row.values()) for row in answer(plans, query, held).rows()]
                assert sorted(found, key=repr) == sorted(expected, key=repr)

    holds()


def numbered(name: str, count: int) -> Contents:
    rows = pa.RecordBatch.from_pydict(
        {
            "id": pa.array(range(count), pa.int64()),
            "kind": pa.array((i % 100 for i in range(count)), pa.int32()),
            "x": pa.array(map(float, range(count))),
            "d": pa.array((Decimal(i) for i in range(count)), pa.decimal128(9, 2)),
        }
    )
    schema = rows.schema.set(0, rows.schema.field(0).with_nullable(False))
    rows = pa.RecordBatch.from_arrays(rows.columns, schema=schema)
    return Contents(name, schema, [ZSet(rows, np.ones(count, np.int64))])


@pytest.mark.parametrize(
    ("query", "taken"),
    [
        ("SELECT * FROM t WHERE id = 5", {"t": 1}),
        ("SELECT * FROM t WHERE d = 5.00BD AND kind = 5", {"t": 1}),
        ("SELECT * FROM t WHERE kind IN (5, 6) AND id > 50", {"t": 80}),
        ("SELECT t.x FROM t JOIN u ON t.id = u.id WHERE u.id IN (5, 9)", {"t": 2, "u": 2}),
        ("SELECT t.x FROM t JOIN u ON t.kind = u.id WHERE u.id = 5", {"t": 40, "u": 1}),
        # the other way round, since the filter leaves few
        ("SELECT t.x FROM t JOIN u ON t.id = u.id WHERE t.x < 3", {"t": 4000, "u": 3}),
        ("SELECT * FROM t WHERE id IN (SELECT id FROM u WHERE x < 3)", {"t": 3, "u": 2000}),
        # all, where an error is to be found, or hashes don't tell, or rows aren't few, or all count
        ("SELECT * FROM t WHERE 1 / kind > -1 AND id = 5", {"t": 4000}),
        ("SELECT * FROM t WHERE kind = 5 AND 1 / id > -1", {"t": 4000}),  # kind may be NULL
        ("SELECT * FROM t WHERE id = 5 AND 1 / kind > -1", {"t": 1}),
        ("SELECT * FROM t WHERE x = 5", {"t": 4000}),
        ("SELECT * FROM t WHERE kind = 5 OR id = 5", {"t": 4000}),
        ("SELECT * FROM t WHERE kind > 5", {"t": 4000}),
        ("SELECT t.x FROM t JOIN u ON t.id = u.id", {"t": 4000, "u": 2000}),
        ("SELECT * FROM t LEFT JOIN u ON t.id = u.id AND u.x < 3", {"t": 4000, "u": 2000}),
        ("SELECT * FROM t WHERE id = 5 UNION ALL SELECT * FROM t", {"t": 4000}),
    ],
)
def test_few_rows_are_taken(spark: Any, query: str, taken: dict[str, int]) -> None:
    held = {name: numbered(name, count) for name, count in (("t", 4000), ("u", 2000)) if name in taken}
    program = Plans(lambda: spark, "UTC").of(query, {name: each.columns for name, each in held.items()})
    if "WHERE 1 / kind" in query:
        with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
            answer(Plans(lambda: spark, "UTC"), query, held)
    narrowing = Narrowing(program.circuit, {name: each.parts for name, each in held.items()}, held, None)
    narrowing.narrow()
    assert {name: sum(map(len, parts)) for name, parts in narrowing.parts.items()} == taken
