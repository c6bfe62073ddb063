"""ASOF JOIN in programs: against Spark's own, and with LATENESS."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.shown.bounds import bounds
from dbsp.sql.plans.shown.explain import explain_view
from tests.effort import examples
from tests.generators.lateness import Annotated
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import Case
from tests.laws.test_lateness_laws import WAYS, drifting_runs, same_as_surviving_rows
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

START = datetime(2024, 1, 1, tzinfo=UTC)
COMPARISONS = (">=", ">", "<=", "<")
# of each key and time one row, so that it is clear which one Spark takes
VERSIONS = table("p", "k BIGINT, ts TIMESTAMP, price INT", key=("k", "ts"))
ORDERS = table("o", "k BIGINT, ts TIMESTAMP, units INT")


def joined(comparison: str, kind: str = "", on: str = "ON o.k = p.k") -> str:
    match = f"MATCH_CONDITION (o.ts {comparison} p.ts) {on}"
    return f"SELECT o.k, o.ts, o.units, p.ts AS since, p.price FROM o {kind} ASOF JOIN p {match}"


QUERIES = {
    **{f"{kind or 'inner'} {c}": joined(c, kind) for c in COMPARISONS for kind in ("", "LEFT")},
    "using": "SELECT k, o.ts, price FROM o LEFT OUTER ASOF JOIN p MATCH_CONDITION (p.ts < o.ts) USING (k)",
    "conditions of one side": joined(">=", "LEFT", "ON o.k = p.k AND o.units > 0 AND p.price > 0"),
    "conditions of the left side of pairs": joined("<", "", "ON o.k = p.k AND o.units > 0"),
    "null-safe": joined(">=", "LEFT", "ON o.units <=> p.price"),
    "times that are computed": (
        "SELECT o.k, p.price FROM o LEFT ASOF JOIN p "
        "MATCH_CONDITION (o.ts >= p.ts + INTERVAL 10 MINUTES) ON o.k = p.k"
    ),
    "numbers of several types": (
        "SELECT o.k, o.units, q.k AS n FROM o LEFT ASOF JOIN (SELECT DISTINCT k FROM p) q "
        "MATCH_CONDITION (o.units >= q.k)"
    ),
    "grouped": (
        "SELECT q.price, sum(o.units) AS n FROM o ASOF JOIN p q MATCH_CONDITION (o.ts >= q.ts) "
        "ON o.k = q.k GROUP BY q.price"
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_incremental_equals_spark(spark: Any, name: str) -> None:
    program = Program((ORDERS, VERSIONS), (View("v", QUERIES[name], None),))
    run = seeded_run(len(name), program, steps=4, most=8)
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark))


def test_of_rows_that_are_equally_near_the_first_is_taken(spark: Any) -> None:
    text = """
    CREATE TABLE o (id INT, ts TIMESTAMP);
    CREATE TABLE p (ts TIMESTAMP, price INT, name STRING);
    CREATE VIEW v AS SELECT id, price, name FROM o ASOF JOIN p MATCH_CONDITION (o.ts >= p.ts);
    """
    with Pipeline(compile_program(text, session=spark), runner="inline") as pipeline:
        pipeline.insert("o", [{"id": 1, "ts": START + timedelta(hours=1)}])
        pipeline.insert("p", [{"ts": START, "price": n % 3, "name": str(n)} for n in range(6)])
        pipeline.step()
        assert pipeline["v"].rows() == [{"id": 1, "price": 0, "name": "0"}]


LATE = {
    ("o", "ts"): ("INTERVAL 12 MINUTES", timedelta(minutes=12)),
    ("p", "ts"): ("INTERVAL 0 SECONDS", timedelta(0)),
}
APPENDED = table("p", "k BIGINT, ts TIMESTAMP, price INT", append_only=True)


@pytest.mark.parametrize("way", WAYS)
@examples(12)
@given(data=st.data())
def test_only_late_rows_are_missing(spark: Any, way: str, data: st.DataObject) -> None:
    query = joined(data.draw(st.sampled_from(COMPARISONS)), data.draw(st.sampled_from(["", "LEFT"])))
    versions = data.draw(st.sampled_from([APPENDED, VERSIONS]))
    grouped = "SELECT k, ts, count(*) AS n FROM v GROUP BY k, ts"
    program = Program((ORDERS, versions), (View("v", query, None), View("w", grouped, None)))
    annotated = Annotated(program, LATE)
    same_as_surviving_rows(spark, annotated, data.draw(drifting_runs(annotated)), WAYS[way])


TABLES = """
CREATE TABLE o (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE, units INT);
CREATE TABLE p (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE, price INT) WITH (append_only = true);
"""


def test_of_old_versions_the_last_of_each_key_stays(spark: Any) -> None:
    program = compile_program(f"{TABLES}CREATE VIEW v AS {joined('>=')};", session=spark)
    lines = [str(bound) for bound in bounds(program)]
    assert any("bounded by the waterline of o.ts and p.ts" in line for line in lines)
    assert any("bounded by the waterline of p.ts" in line for line in lines)
    with Pipeline(program, runner="inline") as pipeline:
        most = 0
        for step in range(40):
            times = [START + timedelta(minutes=10 * step + n) for n in range(10)]
            pipeline.insert("p", [{"k": k, "ts": times[0], "price": step} for k in range(5)])
            pipeline.insert("p", [{"k": 9, "ts": times[0], "price": 1}] if not step else [])
            pipeline.insert("o", [{"k": 9, "ts": t, "units": n} for n, t in enumerate(times)])
            pipeline.step()
            most = max(most, *(pipeline._position.state.rows()[i] for i in program.circuit.retentions))
        assert most < 60
        assert len(pipeline["v"].rows()) == 400


def test_what_a_plan_says_of_it(spark: Any) -> None:
    program = compile_program(f"{TABLES}CREATE VIEW v AS {joined('>=', 'LEFT')};", session=spark)
    text = explain_view(program, "v")
    assert "left join with the nearest of left.ts >= right.ts on left.k = right.k" in text
    assert "[lookup of the nearest row, and of the rows until the next, two traces]" in text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            joined(">=", "", "ON o.k = p.k AND o.units > p.price"),
            "not supported yet: ASOF JOIN with an ON that compares the sides by more than equalities",
        ),
        ("SELECT o.k FROM o ASOF JOIN p MATCH_CONDITION (o.ts = p.ts) ON o.k = p.k", "MATCH_CONDITION"),
    ],
)
def test_refused(spark: Any, query: str, message: str) -> None:
    with pytest.raises(ProgramError, match=r"^program.sql:4:\d+: ") as raised:
        compile_program(f"{TABLES}CREATE VIEW v AS {query};", "program.sql", session=spark)
    assert message in str(raised.value)
