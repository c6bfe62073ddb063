"""What no pipeline can be made with is said before anything is opened."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.arguments import check_arguments

USUAL: dict[str, Any] = {
    "program": "p.sql",
    "sql": None,
    "spark": None,
    "runner": "inline",
    "verify": "first read",
    "partitions": None,
    "max_undelivered": 0,
    "evolve": False,
    "backfill": None,
}


def test_the_usual_ones() -> None:
    check_arguments(**USUAL)
    check_arguments(**{**USUAL, "program": None, "sql": "CREATE TABLE t (a INT);"})
    check_arguments(**{**USUAL, "evolve": True, "backfill": "from-source"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sql": "SELECT 1"}, "either a program file or sql"),
        ({"program": None}, "either a program file or sql"),
        ({"program": "CREATE TABLE t (a INT);"}, r"program is the name of a file; .*Pipeline\(sql="),
        ({"program": None, "sql": "p.sql"}, r'give the name of a file as Pipeline\("p\.sql"\)'),
        ({"spark": object()}, "make a classic session"),
        ({"runner": "ray"}, "unknown runner 'ray'; runners: spark, inline"),
        ({"verify": "always"}, "verify='always'; there is: "),
        ({"partitions": 0}, "partitions=0: needs at least 1"),
        ({"evolve": True, "backfill": "all"}, "backfill='all'; there is: from-source"),
        ({"backfill": "from-source"}, "is a way to change a program: give evolve=True, too"),
        ({"max_undelivered": -1}, "max_undelivered=-1: needs at least 0"),
    ],
)
def test_the_others(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        check_arguments(**{**USUAL, **given})


@pytest.mark.spark
def test_a_session_that_means_something_else_is_told(spark: Any, caplog: pytest.LogCaptureFixture) -> None:
    check_arguments(**{**USUAL, "spark": spark})
    assert not caplog.records
    other = spark.newSession()
    other.conf.set("spark.sql.ansi.enabled", "false")
    check_arguments(**{**USUAL, "spark": other})
    assert caplog.messages == [
        "the session has spark.sql.ansi.enabled = false; here queries mean what they do with true"
    ]
