"""What a sink is written, by many tasks: each shape of a changelog, applied in order, is the view."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.pipeline.spark.sinks import Appended
from dbsp.sql.compiler.load import compile_program
from dbsp.targets.reading import reading_of
from tests.effort import examples
from tests.generators.programs import program, table
from tests.generators.strategies import runs
from tests.laws.laws import WAYS, Case, Running, Way

pytestmark = pytest.mark.spark

# the joined rows lie by `b`, so that changes of one key of their upsert come from several tasks
PROGRAM = program(
    [table("r", "a BIGINT, b BIGINT, c BIGINT", ["a"]), table("t", "b BIGINT, n BIGINT", ["b"])],
    joined="SELECT x.a, y.b, y.n FROM r x JOIN t y ON x.b = y.b",
    counted="SELECT c, count(*) AS n FROM r WHERE c IS NOT NULL GROUP BY c",
    grown="SELECT b, n FROM t",
)
SINKS = """
CREATE TABLE latest (b BIGINT, a BIGINT PRIMARY KEY, n BIGINT, __op STRING) USING noop;
INSERT INTO latest (a, b, n) SELECT * FROM joined;
CREATE TABLE counts (n BIGINT, c BIGINT PRIMARY KEY) USING noop;
INSERT INTO counts (c, n) SELECT * FROM counted;
CREATE TABLE weighted (__step BIGINT, b BIGINT, n BIGINT, __weight BIGINT) USING noop;
INSERT INTO weighted SELECT * FROM grown;
CREATE TABLE operations (n BIGINT, __op STRING) USING noop;
INSERT INTO operations SELECT n FROM t;
"""
_COMPILED: dict[str, Any] = {}


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be written is read here."""
    monkeypatch.setattr(Appended, "_write", lambda *_: None)


def compiled(session: Any) -> Any:
    if not _COMPILED:
        _COMPILED["it"] = compile_program(PROGRAM.text + SINKS, session=session)
    return _COMPILED["it"]


def written(running: Running, target: str) -> list[dict[str, Any]]:
    """The records of the last step, task by task."""
    p = running.pipeline
    (insert,) = [i for i in p.program.inserts if i.target == target]
    chunks = p.store.commit_of(p.last_step).changes.get(insert.view, [])
    if not chunks:
        return []
    tasks = pa.RecordBatch.from_pydict({"id": list(range(len(chunks)))})
    batches = reading_of(p.program, p.store, insert, p.last_step, chunks)([tasks])
    return [record for batch in batches for record in batch.to_pylist()]


@examples(40)
@given(data=st.data())
def test_the_records_of_a_sink_are_the_view(spark: Any, data: st.DataObject) -> None:
    case = Case(PROGRAM, compiled(spark))
    way = data.draw(st.sampled_from([Way(), Way(partitions=3), *WAYS.values()]))
    latest: dict[Any, Any] = {}
    counts: dict[Any, Any] = {}
    weighted: Counter[Any] = Counter()
    operations: Counter[Any] = Counter()
    with Running(case, way) as running:
        for delta in data.draw(runs(PROGRAM)):
            running.step(delta)
            for record in written(running, "latest"):
                key, op = record["a"], record["__op"]
                assert op == ("D" if record["b"] is None else "U" if key in latest else "I")
                latest.pop(key, None)
                if op != "D":
                    latest[key] = (record["b"], record["n"])
            for record in written(running, "counts"):
                counts.pop(record["c"], None)
                if record["n"] is not None:
                    counts[record["c"]] = record["n"]
            for record in written(running, "weighted"):
                assert record["__step"] == running.pipeline.last_step
                weighted[record["b"], record["n"]] += record["__weight"]
            for record in written(running, "operations"):
                operations[record["n"]] += {"I": 1, "D": -1}[record["__op"]]
            p = running.pipeline
            views = {view: [tuple(r.values()) for r in p[view].rows()] for view in PROGRAM.outputs}
            assert {(a, b, n) for a, (b, n) in latest.items()} == set(views["joined"])
            assert set(counts.items()) == set(views["counted"])
            assert Counter({row: n for row, n in weighted.items() if n}) == Counter(views["grown"])
            assert Counter({n: k for n, k in operations.items() if k}) == Counter(
                n for _, n in views["grown"]
            )
