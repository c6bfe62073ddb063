"""Where `dbsp explain` says each waterline goes."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.compiler.load import compile_program
from dbsp.views.explained.program import explain_program

pytestmark = pytest.mark.spark

SHIPPED = """
CREATE TABLE orders (id BIGINT, placed TIMESTAMP LATENESS INTERVAL 30 MINUTES) WITH (append_only = true);
CREATE TABLE shipment (id BIGINT, sent TIMESTAMP LATENESS INTERVAL 30 MINUTES) WITH (append_only = true);
CREATE LOCAL VIEW shipped AS SELECT o.placed FROM orders o JOIN shipment s
ON o.id = s.id AND s.sent <= o.placed + INTERVAL 1 HOUR;
CREATE LOCAL VIEW hourly AS SELECT window.start AS hour, count(*) AS n FROM shipped
GROUP BY window(placed, '1 hour');
CREATE VIEW hours AS SELECT count(*) AS n FROM hourly;
CREATE VIEW other AS SELECT count(*) AS n FROM shipment;
"""
BOUND = "least(floor(orders.placed to 1:00:00), floor(shipment.sent - 1:00:00 to 1:00:00))"


def test_a_path_leads_from_the_column_to_the_traces_it_collects(spark: Any) -> None:
    text = explain_program(compile_program(SHIPPED, session=spark), None, "text")
    _, orders, shipment = text.split("waterline ")
    assert orders.startswith("orders.placed\n  placed >= orders.placed: 1 OnTime orders, 3 AppendOnly")
    assert "collects placed + 1:00:00 < shipment.sent: " in shipment
    assert "collects placed + 1:00:00 < shipment.sent: " not in orders
    for path in (orders, shipment):
        assert f"  window_time >= {BOUND}: " in path
        assert f"  collects window_time < {BOUND}: " in path


def test_a_view_shows_what_reaches_it(spark: Any) -> None:
    text = explain_program(compile_program(SHIPPED, session=spark), "other", "text")
    _, shipment = text.split("waterline ")
    assert shipment.startswith("shipment.sent\n")
    assert "collects" not in shipment


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("mermaid", "<br/>sent &gt;= shipment.sent<br/>collects sent &lt;"),
        ("dot", r"\nsent >= shipment.sent\ncollects sent <"),
        ("svg", "collects placed + 1:00:00 &lt; shipment.sent</text>"),
    ],
)
def test_the_drawn_forms_have_it_in_their_boxes(spark: Any, form: str, line: str) -> None:
    text = SHIPPED.replace("s.sent <=", "s.sent >= o.placed AND s.sent <=")
    assert line in explain_program(compile_program(text, session=spark), None, form)


def test_what_falls_is_bounded_from_above(spark: Any) -> None:
    program = compile_program(
        "CREATE TABLE depth (at BIGINT LATENESS 2 DECREASING, k INT) WITH (append_only = true);\n"
        "CREATE VIEW v AS SELECT k FROM (SELECT at div 10 AS tens, k, count(*) FROM depth GROUP BY ALL);",
        session=spark,
    )
    text = explain_program(program, None, "text")
    (path,) = text.split("waterline ")[1:]
    assert path.startswith("depth.at (decreasing)\n  at <= depth.at (decreasing): ")
    assert "  collects integral_divide > integral_divide(depth.at (decreasing), 10): " in path


def test_without_lateness_there_is_no_path(spark: Any) -> None:
    text = SHIPPED.replace("LATENESS INTERVAL 30 MINUTES", "")
    assert "waterline" not in explain_program(compile_program(text, session=spark), None, "text")
