"""AUTO CDC as views: after every step what DuckDB makes of all events so far, in whatever order they came."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.project.changes import events_head, events_parts, result
from dbsp.declared.project.datasets import Changes, Clause, Place
from dbsp.pipeline.pipeline import Pipeline

pytestmark = pytest.mark.spark

TABLE = "CREATE TABLE src (k BIGINT, `a b` STRING, s BIGINT, v BIGINT, w BIGINT, op STRING)"
COLUMNS = ("k", "a b", "v", "w")
META = {"last": "STRUCT<deleteSequence: BIGINT, upsertSequence: BIGINT>"}
# of events (k, "a b", s, v, w, d: whether it is a delete, step, place)
LAST = """
SELECT k, "a b", r.v, r.w, r.s FROM (
  SELECT k, "a b", arg_max(struct_pack(v := v, w := w, s := s, d := d), (s, NOT d, step, place)) AS r
  FROM events GROUP BY k, "a b"
) WHERE NOT r.d
"""
HISTORY = """
WITH one AS (
  SELECT DISTINCT ON (k, "a b", s) * FROM events ORDER BY k, "a b", s, d DESC, step, place DESC
), beside AS (
  SELECT *,
    (SELECT min(s) FROM one x WHERE x.k = y.k AND x."a b" = y."a b" AND x.s > y.s) AS next,
    (SELECT max(s) FROM one x WHERE x.k = y.k AND x."a b" = y."a b" AND x.s < y.s) AS previous
  FROM one y
), joined AS (
  SELECT y.*, coalesce(NOT y.d AND NOT x.d AND x.v IS NOT DISTINCT FROM y.v {and_w}, false) AS goes_on
  FROM beside y LEFT JOIN one x ON x.k = y.k AND x."a b" = y."a b" AND x.s = y.previous
), started AS (
  SELECT *,
    (SELECT max(s) FROM joined x
     WHERE x.k = y.k AND x."a b" = y."a b" AND x.s <= y.s AND NOT x.goes_on) AS start
  FROM joined y
)
SELECT k, "a b", r.v, r.w, start, r.next, r.s FROM (
  SELECT k, "a b", start, arg_max(struct_pack(v := v, w := w, next := next, s := s), s) AS r
  FROM started WHERE NOT d GROUP BY k, "a b", start
)
"""


def changes(history: bool, tracked: tuple[str, ...] = ()) -> Changes:
    def clause(text: str) -> Clause:
        return Clause(text, Place("a.sql", 1, 1))

    said = clause("STREAM(src)"), clause("s + 0"), clause("op = 'd'")
    return Changes(*said, ("k", "a b"), COLUMNS, history, tracked)


def program() -> str:
    """All three read one view of the events."""
    last = changes(False)
    before, then, source = events_parts(last)
    parts = [before, last.deletes.text, then, last.sequence.text, source, last.source.text]
    types = {"__spark_autocdc_metadata": META["last"]}
    views = {
        "last": result(last, "`last`", "events", types),
        "history": result(changes(True, ("v", "w")), "`history`", "events", types),
        "some": result(changes(True, ("v",)), "`some`", "events", types),
    }
    made = [f"CREATE VIEW {name} AS {query};" for name, query in views.items()]
    return "\n".join(
        [f"{TABLE} WITH (append_only = true);", f"{events_head('events')} {' '.join(parts)};", *made]
    )


def drawn(random_: random.Random) -> list[tuple]:
    value = [None, 0, 1]
    return [
        (
            random_.randrange(3),
            random_.choice("xy"),
            random_.randrange(8),
            random_.choice(value),
            random_.choice(value),
            random_.choice(["d", "u", "u", None]),
        )
        for _ in range(random_.choice([0, 1, 3, 12]))
    ]


def rows(pipeline: Pipeline, view: str) -> list[str]:
    found = []
    for row in pipeline[view].to_arrow().to_pylist():
        *values, metadata = row.values()
        (sequence,) = (value for name, value in metadata.items() if name != "deleteSequence")
        assert metadata.get("deleteSequence") is None
        found.append(repr((*values, sequence)))
    return sorted(found)


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_those_of_all_events(tmp_path, seed):
    random_ = random.Random(seed)
    database = duckdb.connect()
    database.sql('CREATE TABLE events (k INT, "a b" TEXT, s INT, v INT, w INT, d BOOL, step INT, place INT)')
    queries = {"last": LAST, "history": HISTORY.format(and_w="AND x.w IS NOT DISTINCT FROM y.w")}
    queries["some"] = HISTORY.format(and_w="")
    with Pipeline(sql=program(), state=tmp_path / "state", runner="inline") as pipeline:
        for step in range(12):
            given = drawn(random_)
            pipeline.insert("src", given)
            pipeline.step()
            for place, (*values, op) in enumerate(given):
                database.execute(
                    "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*values, op == "d", step, place]
                )
            for view, query in queries.items():
                assert rows(pipeline, view) == sorted(map(repr, database.sql(query).fetchall())), (step, view)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1, "x", None, 1, 1, "u"), "NULL_SEQUENCE.*table last failed microbatch .*null sequencing value"),
        ((1, None, 1, 1, 1, "d"), "NULL_KEY.*null values in the key column a b"),
    ],
)
def test_nulls_fail_the_step(tmp_path, row, message):
    with Pipeline(sql=program(), state=tmp_path / "state", runner="inline") as pipeline:
        pipeline.insert("src", [(1, "x", 1, 1, 1, "u")])
        pipeline.step()
        pipeline.insert("src", [(1, "x", 2, 2, 2, "u"), row])
        with pytest.raises(Error, match=message):
            pipeline.step()
        pipeline.discard()
        assert pipeline["last"].to_arrow()["v"] == pa.chunked_array([pa.array([1], pa.int64())])


def test_what_type_1_keeps_is_a_row_a_key(tmp_path):
    """Whatever the events were: a delete is remembered, and what has lost is not."""
    last = program().split("CREATE VIEW history")[0]
    with Pipeline(sql=last, state=tmp_path / "state", runner="inline") as pipeline:
        circuit = pipeline.program.circuit
    kept = [type(circuit.nodes[i].operator).__name__ for i in sorted(circuit.layouts)]
    assert kept == ["TopOfAppends", "Integrate"]
