"""Expectations are read out of a view's columns, and become a condition after its query."""

from __future__ import annotations

from dbsp.sql.text.expectations import checked
from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.statements.session_statements import Ignored
from dbsp.sql.text.statements.statements import statements
from dbsp.sql.text.tokens import Slice

TEXT = """CREATE MATERIALIZED VIEW v (a, CONSTRAINT one EXPECT (a > (0)) ON VIOLATION DROP ROW, b,
CONSTRAINT two EXPECT (b <> ')') ON VIOLATION FAIL UPDATE, CONSTRAINT three EXPECT (b = 1))
AS SELECT 1, 'x'"""


def test_what_rows_must_be() -> None:
    view, ignored = statements(read(TEXT, "p.sql"))
    assert isinstance(view, CreateView)
    assert isinstance(ignored, Ignored)
    assert view.columns == ("a", "b")
    assert [(e.name, e.condition.text, e.fails) for e in view.expectations] == [
        ("one", "a > (0)", False),
        ("two", "b <> ')'", True),
    ]
    assert ignored.what == "expectation 'three'"
    spelled = checked("it's", view.columns, view.expectations)
    assert "".join(part.text if isinstance(part, Slice) else part for part in spelled) == (
        ") AS expected(`a`, `b`) WHERE CASE WHEN (b <> ')') THEN true ELSE "
        "raise_error('view it''s: a row does not meet the expectation two') END AND (a > (0))"
    )
    assert checked("v", ("a",), ()) == ()
