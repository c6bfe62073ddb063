"""ORDER BY of the query as a whole is the order of the view's rows; what they don't tell has its place."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from tests.sql.compiling import compiled, view


@pytest.mark.spark
@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT id, note FROM orders ORDER BY note, id DESC", [(1, False), (0, True)]),
        ("SELECT id, note FROM orders ORDER BY note -- by what it says", [(1, False)]),
        ("SELECT id, note FROM orders ORDER BY note /* by what it says */", [(1, False)]),
        ("SELECT id FROM (SELECT id, note FROM orders ORDER BY note)", []),
        ("SELECT id FROM orders ORDER BY id, note LIMIT 3", [(0, False)]),
        ("(SELECT id FROM orders) UNION ALL (SELECT id FROM event) ORDER BY id DESC", [(0, True)]),
        ("SELECT id FROM orders", []),
    ],
)
def test_the_order_of_a_view(query: str, columns: list[tuple[int, bool]], spark: Any) -> None:
    order = view(query, spark).order
    assert [(by.expression.index, by.descending) for by in order] == columns


@pytest.mark.spark
@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (
            "CREATE VIEW v AS SELECT id FROM orders\nORDER BY id, note",
            "6:14: ORDER BY what the query doesn't select",
        ),
        (
            "CREATE VIEW v AS SELECT id FROM orders -- its rows\nORDER BY note -- unseen",
            "6:10: ORDER BY what the query doesn't select",
        ),
        (
            "INSERT INTO out SELECT id, 'x' AS note FROM orders\nORDER BY id",
            "6:10: an INSERT writes rows when they change",
        ),
    ],
)
def test_an_order_that_rows_do_not_have(statement: str, error: str, spark: Any) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(f"{statement};", spark)
    assert str(raised.value).startswith(f"p.sql:{error}")
