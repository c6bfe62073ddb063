"""TRIGGER within a common table expression."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.create_view import CreateView
from dbsp.sql.text.emission_clauses import TriggerClause
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements import statements

COUNTED = "c AS (SELECT k, count(*) AS n FROM t GROUP BY k TRIGGER COUNTING 2)"


def view(query: str) -> CreateView:
    (one,) = statements(as_it_is(f"CREATE VIEW v AS {query}", "p.sql"))
    assert isinstance(one, CreateView)
    return one


@pytest.mark.parametrize(
    "query",
    [
        f"WITH {COUNTED} SELECT * FROM c",
        f"WITH b AS (SELECT 1), {COUNTED} SELECT n + 1, k FROM c AS d WHERE n IN (1, 2) ORDER BY n",
        f"WITH {COUNTED} FROM C",
    ],
)
def test_it_is_the_views_where_the_view_is_its_rows(query: str) -> None:
    emission = view(query).emission
    assert isinstance(emission, TriggerClause)
    assert emission.counting == 2


@pytest.mark.parametrize(
    "query",
    [
        f"WITH {COUNTED} SELECT max(n) FROM c GROUP BY k",
        f"WITH {COUNTED} SELECT DISTINCT n FROM c",
        f"WITH {COUNTED} SELECT * FROM c JOIN t USING (k)",
        f"WITH {COUNTED} SELECT * FROM c, t",
        f"WITH {COUNTED} SELECT * FROM t",
        f"WITH {COUNTED}, d AS (SELECT * FROM c) SELECT * FROM d",
        f"WITH {COUNTED} SELECT * FROM c UNION ALL SELECT * FROM c",
        "SELECT * FROM (SELECT k, count(*) FROM t GROUP BY k TRIGGER COUNTING 2)",
    ],
)
def test_elsewhere_it_would_say_nothing(query: str) -> None:
    with pytest.raises(ProgramError, match="TRIGGER says when a view's changes leave"):
        view(query)


def test_not_twice() -> None:
    with pytest.raises(ProgramError, match="has a TRIGGER or EMIT already"):
        view(f"WITH {COUNTED} SELECT * FROM c TRIGGER COUNTING 3")
