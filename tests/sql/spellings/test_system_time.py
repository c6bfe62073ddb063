"""FOR SYSTEM_TIME AS OF is ASOF JOIN by the time since which a row is valid."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE o (id INT, ts TIMESTAMP, k INT);
CREATE TABLE keyed (k INT, `a b` TIMESTAMP, other TIMESTAMP, price INT, PRIMARY KEY (k, `a b`));
CREATE TABLE late (k INT, since TIMESTAMP LATENESS INTERVAL 1 HOUR, price INT);
CREATE TABLE without (k INT PRIMARY KEY, since TIMESTAMP, price INT);
CREATE VIEW kept AS SELECT k, since, price FROM late WHERE price > 0;
LATENESS kept.since INTERVAL 2 HOURS;
"""


def plan_of(query: str, spark: Any) -> Any:
    return compile_program(f"{TABLES}CREATE VIEW v AS {query};", "p.sql", session=spark).views["v"].plan


@pytest.mark.parametrize(
    ("query", "same"),
    [
        (
            "SELECT o.id, p.price FROM o JOIN keyed FOR SYSTEM_TIME AS OF o.ts AS p ON o.k = p.k",
            "SELECT o.id, p.price FROM o ASOF JOIN keyed p MATCH_CONDITION (o.ts >= p.`a b`) ON o.k = p.k",
        ),
        (
            "SELECT id, price FROM o inner join `late` for system_time as of ts `c d` ON o.k = `c d`.k",
            "SELECT id, price FROM o ASOF JOIN late a MATCH_CONDITION (ts >= a.since) ON o.k = a.k",
        ),
        (
            "SELECT id, price FROM o LEFT OUTER JOIN kept FOR SYSTEM_TIME AS OF o.ts USING (k)",
            "SELECT id, price FROM o LEFT ASOF JOIN kept MATCH_CONDITION (o.ts >= kept.since) USING (k)",
        ),
        (
            "SELECT id, p.price + q.price AS x FROM o JOIN late FOR SYSTEM_TIME AS OF o.ts p ON o.k = p.k "
            "LEFT JOIN keyed FOR SYSTEM_TIME AS OF p.since q ON p.k = q.k",
            "SELECT id, p.price + q.price AS x FROM o ASOF JOIN late p MATCH_CONDITION (o.ts >= p.since) "
            "ON o.k = p.k LEFT ASOF JOIN keyed q MATCH_CONDITION (p.since >= q.`a b`) ON p.k = q.k",
        ),
    ],
)
def test_it_says_the_same_shorter(spark: Any, query: str, same: str) -> None:
    assert plan_of(query, spark) == plan_of(same, spark)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT id FROM o JOIN without FOR SYSTEM_TIME AS OF o.ts ON o.k = without.k",
            "8:48: 'without' doesn't say from which time on a row is valid; "
            "declare it, as PRIMARY KEY (..., since) or with LATENESS, or write ASOF JOIN",
        ),
        (
            "SELECT id FROM o JOIN nowhere FOR SYSTEM_TIME AS OF o.ts ON true",
            "8:48: FOR SYSTEM_TIME AS OF 'nowhere'",
        ),
        (
            "SELECT k FROM late FOR SYSTEM_TIME AS OF since",
            "8:37: FOR SYSTEM_TIME AS OF is for the table of a join",
        ),
        (
            "SELECT id FROM o FULL JOIN late FOR SYSTEM_TIME AS OF o.ts ON true",
            "8:50: FOR SYSTEM_TIME AS OF is for",
        ),
        (
            "SELECT id FROM o JOIN (SELECT * FROM late) FOR SYSTEM_TIME AS OF o.ts ON true",
            "8:61: FOR SYSTEM_TIME AS OF is for the table of a join",
        ),
        (
            "SELECT id FROM o JOIN late FOR SYSTEM_TIME AS OF '2024-01-01' ON true",
            "8:67: FOR SYSTEM_TIME AS OF takes",
        ),
        ("SELECT id FROM o JOIN late FOR SYSTEM_TIME AS OF o.tz ON true", "8:67: unknown column 'o.tz'"),
    ],
)
def test_refused(spark: Any, query: str, message: str) -> None:
    with pytest.raises(ProgramError) as raised:
        plan_of(query, spark)
    assert str(raised.value).startswith(f"p.sql:{message}")
