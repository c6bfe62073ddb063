"""Stream keys: no two rows of a view agree in them."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.plans.properties.keys import view_keys
from tests.sql.compiling import compiled

pytestmark = pytest.mark.spark

VIEWS = {
    "SELECT name, id FROM customer WHERE id > 3": ("id",),
    "SELECT name FROM customer": None,
    "SELECT id + 1 AS id FROM customer": ("id",),
    "SELECT id * 2 AS id FROM customer": None,
    "SELECT a.id AS a, b.id AS b FROM customer a JOIN customer b ON a.name = b.name": ("a", "b"),
    "SELECT o.id FROM orders o JOIN customer c ON o.customer = c.id": None,
    "SELECT a.id AS a, b.id AS b FROM customer a JOIN customer b ON a.id = b.id": ("a",),
    "SELECT a.id AS a, b.id AS b FROM customer a LEFT JOIN customer b ON a.name = b.name": ("a", "b"),
    "SELECT a.id AS a, b.name FROM customer a LEFT JOIN customer b ON a.id = b.id": ("a",),
    "SELECT a.id AS a, b.id AS b FROM customer a FULL JOIN customer b ON a.id = b.id": ("a", "b"),
    "SELECT a.n, b.n AS m FROM (SELECT count(*) AS n FROM event) a FULL JOIN"
    " (SELECT count(*) AS n FROM customer) b ON a.n = b.n": None,
    "SELECT a.id, b.name FROM customer a ASOF JOIN customer b MATCH_CONDITION (a.id >= b.id)": ("id",),
    "SELECT id FROM customer a WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.id = a.id)": ("id",),
    "SELECT id, id IN (SELECT id FROM event) AS q FROM customer": ("id",),
    "SELECT id, name FROM customer INTERSECT ALL SELECT customer, note FROM orders": ("id",),
    "SELECT id, kind FROM event EXCEPT SELECT id, kind FROM event": ("id", "kind"),
    "SELECT id FROM event EXCEPT ALL SELECT id FROM customer": None,
    "SELECT kind, count(*) AS n, id FROM event GROUP BY id, kind": ("id", "kind"),
    "SELECT count(*) AS n FROM event": (),
    "SELECT DISTINCT kind, ts FROM event": ("kind", "ts"),
    "SELECT DISTINCT id, name FROM customer": ("id",),
    "SELECT id, posexplode(array(name, 'x')) FROM customer": ("id", "pos"),
    "SELECT id, explode(array(name, 'x')) FROM customer": None,
    "SELECT id FROM customer UNION ALL SELECT id FROM customer": None,
}


def test_keys_are_derived_bottom_up(spark: Any) -> None:
    text = "".join(f"CREATE VIEW v{i} AS {query};\n" for i, query in enumerate(VIEWS))
    program = compiled(text, spark)
    keys = view_keys(program)
    for i, (query, expected) in enumerate(VIEWS.items()):
        view = program.views[f"v{i}"]
        key = keys[view.name]
        found = None if key is None else tuple(view.schema[column].name for column in key)
        assert (set(found) if found else found) == (set(expected) if expected else expected), query


def test_a_view_over_a_view_has_its_key(spark: Any) -> None:
    program = compiled(
        "CREATE LOCAL VIEW g AS SELECT kind, count(*) AS n FROM event GROUP BY kind;"
        "CREATE VIEW v AS SELECT n, kind FROM g WHERE n > 1",
        spark,
    )
    assert view_keys(program)["v"] == (1,)


def test_late_rows_have_none(spark: Any) -> None:
    program = compiled(
        "CREATE TABLE late (n BIGINT LATENESS 1 PRIMARY KEY); CREATE VIEW v AS SELECT n FROM late", spark
    )
    keys = view_keys(program)
    assert (keys["late_rows"], keys["v"]) == (None, (0,))
