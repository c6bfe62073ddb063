"""What operators say of themselves."""

from __future__ import annotations

import pytest

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.shown.bounds import bounds
from dbsp.sql.plans.shown.boxes import boxes

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("on", "cost"),
    [
        ("a.x BETWEEN b.x - 1 AND b.x + 1", "lookup of a range"),
        ("a.k = b.k AND a.ts >= b.ts AND a.ts <= b.ts + INTERVAL 1 HOUR", "lookup of a range"),
        ("a.k = b.k AND a.ts - b.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 1 HOUR", "lookup of a range"),
        ("a.k = b.k AND a.ts - b.ts < INTERVAL 1 HOUR", "lookup of a half-open range"),
        ("a.k = b.k AND a.ts BETWEEN b.ts AND b.ends", "lookup of a range"),
        ("a.x > b.k", "lookup of a half-open range"),
        ("a.k = b.k", "lookup"),
        ("a.x <> b.x", "all rows of the other side"),
    ],
)
def test_what_a_join_looks_up(spark: object, on: str, cost: str) -> None:
    tables = "".join(
        f"CREATE TABLE {t} (k BIGINT, x INT, ts TIMESTAMP, ends TIMESTAMP);\n" for t in ("a", "b")
    )
    program = compile_program(f"{tables}CREATE VIEW v AS SELECT a.x FROM a JOIN b ON {on};", session=spark)  # type: ignore[arg-type]
    assert [box.cost for box in boxes(program) if box.title == "Join"] == [cost]


REFUSED = """
CREATE TABLE t (a INT CONSTANT DOMAIN, s STRING) USING csv OPTIONS (path '/nowhere', header 'true');
CREATE VIEW of_relations AS SELECT relation, count(*) AS n FROM bad_rows GROUP BY relation;
CREATE VIEW reasons AS SELECT DISTINCT reason FROM bad_rows;
CREATE VIEW beside AS SELECT DISTINCT t.a, r.reason FROM bad_rows r JOIN t ON t.a = r.step;
"""


def test_what_sources_refuse_is_shown_as_what_tables_bring(spark: object) -> None:
    program = compile_program(REFUSED, session=spark)  # type: ignore[arg-type]
    details = {box.title: box.detail for box in boxes(program)}
    assert details["Source t"] == "(a INT, s STRING)"
    assert details["Source bad_rows"] == "(relation STRING, origin STRING, text STRING, reason STRING)"
    assert {view for box in boxes(program) for view in box.views} == {*program.views}


def test_what_is_made_of_it_is_bounded_by_it(spark: object) -> None:
    found = list(bounds(compile_program(REFUSED, session=spark)))  # type: ignore[arg-type]
    assert sum(str(one).endswith("bounded by what sources bring that is no row") for one in found) >= 5
    assert any("grows with t" in str(one) for one in found)
    assert not any(str(one).endswith("bounded by constants") for one in found)
