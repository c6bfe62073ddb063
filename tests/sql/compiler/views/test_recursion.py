"""Recursive views: what is defined together, what is refused, what is said of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.compiler.views.recursion import complete_components
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.sql.plans.shown.bounds import bounds
from dbsp.views.explained.program import explain_program
from tests.sql.compiling import compiled

PATHS = (
    "SELECT id AS a, customer AS b FROM orders "
    "UNION SELECT p.a, o.customer FROM p JOIN orders o ON p.b = o.id"
)
COLUMNS = "(a BIGINT, b INT)"


@pytest.mark.parametrize(
    ("reads", "components"),
    [
        ({"a": set()}, [("a",)]),
        ({"a": {"a"}}, [("a",)]),
        ({"a": {"b"}}, []),
        ({"a": {"b"}, "b": {"a"}}, [("a", "b")]),
        ({"b": {"a"}, "a": {"b"}}, [("b", "a")]),
        ({"a": {"b"}, "b": {"b"}}, [("b",), ("a",)]),
        ({"a": {"a", "b"}, "b": {"b"}, "c": {"x"}}, [("b",), ("a",)]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}, [("d",), ("a", "b", "c")]),
    ],
)
def test_components(reads: dict[str, set[str]], components: list[tuple[str, ...]]) -> None:
    assert complete_components(reads) == components


def recursive(query: str, columns: str = COLUMNS, name: str = "p") -> str:
    return f"CREATE RECURSIVE VIEW {name} {columns} AS {query};"


REFUSED = {
    recursive("SELECT id, max(customer) FROM orders GROUP BY id UNION SELECT a, max(b) FROM p GROUP BY a"): (
        "5:125: an aggregate over 'p' in its own recursion, which can only add rows; use it in"
    ),
    recursive(
        "SELECT id, customer FROM orders UNION SELECT o.id, p.b FROM orders o LEFT JOIN p ON p.b = o.id"
    ): ("5:115: LEFT JOIN over 'p' in its own recursion"),
    recursive("SELECT id, customer FROM orders WHERE id NOT IN (SELECT a FROM p WHERE a IS NOT NULL)"): (
        "5:84: ANTI JOIN over 'p' in its own recursion"
    ),
    recursive(
        "SELECT a, CAST(row_number() OVER (ORDER BY a) AS INT) FROM p"
    ): "5:61: OVER over 'p' in its own",
    recursive(
        "WITH RECURSIVE w AS (SELECT a, b FROM p UNION ALL SELECT a + 1, b FROM w) SELECT a, b FROM w"
    ): ("5:46: WITH RECURSIVE over 'p' in its own recursion"),
    recursive("SELECT id AS a, customer AS b, 1 AS n FROM orders"): (
        "5:46: recursive view 'p' has 2 columns (a, b), its query 3"
    ),
    recursive(
        PATHS, "(a BIGINT, b BIGINT)"
    ): "5:49: column 'b' of 'p' is BIGINT, its query gives INT; CAST it",
    recursive(
        PATHS, "(a BIGINT, b INT NOT NULL)"
    ): "5:55: column 'b' of 'p' is NOT NULL, its query may give NULL",
    recursive(PATHS, "(a BIGINT, b VARIANT)"): "5:38: column 'b' of 'p' is a VARIANT, which can't make rows",
    recursive("SELECT id, amuont FROM orders"): "5:57: unknown column 'amuont' in 'orders'",
    recursive("SELECT id, customer FROM orders WHERE rand() < 0.5"): "5:84: rand() is not deterministic",
    f"CREATE VIEW v AS SELECT * FROM p; {recursive(PATHS)}": (
        "5:32: 'p' is defined further down; a view reads what is above it: move 'p' up"
    ),
    (
        recursive("SELECT a, b FROM q")
        + "CREATE VIEW v AS SELECT a FROM p;"
        + recursive("SELECT a, b FROM p", name="q")
    ): "5:96: 'p' refers to 'q', defined further down: read it below",
    recursive(PATHS) + "CREATE VIEW p AS SELECT 1 AS x": "5:164: 'p' is already defined at p.sql:5:23",
    recursive(PATHS) + "LATENESS p.a 1; CREATE VIEW v AS SELECT 1 AS x": "5:",
    "CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL (SELECT n + 1 FROM r UNION ALL SELECT 2)) "
    "SELECT n FROM r": "5:",
}


@pytest.mark.spark
@pytest.mark.parametrize("program", REFUSED)
def test_a_recursion_is_refused(program: str, spark: Any) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(program, spark)
    assert str(raised.value).startswith(f"p.sql:{REFUSED[program]}")
    assert "\n" not in str(raised.value)


@pytest.mark.spark
def test_what_is_not_monotone_may_stand_above_and_below(spark: Any) -> None:
    below = "CREATE VIEW top AS SELECT id, max(customer) AS customer FROM orders GROUP BY id;"
    above = "CREATE VIEW n AS SELECT a, count(*) AS n FROM p GROUP BY a;"
    again = recursive("SELECT a, CAST(n AS INT) FROM n UNION SELECT a, b - 1 FROM q WHERE b > 0", name="q")
    program = compiled(below + recursive(PATHS.replace("orders", "top")) + above + again, spark)
    views = [program.views[name] for name in ("top", "p", "n", "q")]
    assert [view.component for view in views] == [(), ("p",), (), ("q",)]
    assert len(program.circuit.loops) == 2


@pytest.mark.spark
def test_what_is_said_of_a_recursion(spark: Any) -> None:
    program = compile_program(
        "CREATE TABLE n (id INT PRIMARY KEY, up INT);"
        "CREATE RECURSIVE VIEW t (id INT, top INT) WITH (max_iterations = 7) AS "
        "SELECT id, up FROM n UNION SELECT t.id, n.up FROM t JOIN n ON t.top = n.id;",
        session=spark,
    )
    assert view_keys(program)["t"] == (0, 1)
    text = explain_program(program, None, "text")
    fed = re.search(r"Recurrence t +as of the iteration before, for at most 7  <- (\d+)", text)
    assert fed is not None and re.search(rf"^ +{fed[1]}  level \d  Earliest", text, re.MULTILINE)
    inside = [b for b in bounds(program) if "__iteration" in b.keeps]
    assert inside and not any(b.is_bounded for b in inside)
    assert all(b.hint == "grows with n, and with what the recursion of t makes of it" for b in inside)
