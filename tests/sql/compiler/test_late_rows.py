"""`late_rows`, and the views whose columns may be declared late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.operators.inputs.late import LATE_SCHEMA
from dbsp.sql.compiler.late_rows import LATE_TYPES, annotated_view, late_rows_view
from dbsp.sql.plans.nodes import Distinct, Scan
from dbsp.sql.plans.program import View
from dbsp.sql.text.annotations import LatenessStatement
from tests.sql.hand_made import T, view
from tests.sql.text.reading import only, source_of

VIEWS = {
    one.name: one
    for one in (
        late_rows_view(),
        view("Low", T),
        view("read", T),
        view("reader", Distinct(Scan("read", T.schema))),
        view("of_late", Distinct(Scan("late_rows", T.schema))),
        view("inside", T),
    )
}


def annotated(text: str) -> View:
    statement = only(text)
    assert isinstance(statement, LatenessStatement)
    return annotated_view(source_of(text), statement, VIEWS, {"inside"})


def test_the_systems_view_is_as_the_circuits() -> None:
    found = late_rows_view()
    assert [(f.name, f.type) for f in found.schema] == [(f.name, f.type) for f in LATE_SCHEMA]
    assert [name for name, type_ in LATE_TYPES if type_ == "long"] == ["step"]
    assert found.append_only
    assert not any(f.nullable for f in found.schema)


def test_a_view_is_found_by_its_name_in_any_case() -> None:
    assert annotated("LATENESS LOW.B 3") == VIEWS["Low"]
    assert annotated("LATENESS reader.a 3") == VIEWS["reader"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "LATENESS lowe.b 3",
            "1:10: LATENESS of an unknown view 'lowe'; views so far: Low, read, reader, of_late",
        ),
        ("LATENESS late_rows.step 3", "1:10: LATENESS of an unknown view 'late_rows'"),
        ("LATENESS low.x 3", "1:10: unknown column 'x' in 'Low'; columns: a, b, c, d"),
        (
            "LATENESS low.b PERCENTILE 5 OVER 9 ROWS",
            "1:10: LATENESS PERCENTILE of 'Low': rows of a view come in no",
        ),
        ("LATENESS read.b 3", "1:10: LATENESS of 'read' must stand before the views that read it"),
        ("LATENESS inside.b 3", "1:10: LATENESS of 'inside' must stand before the views that read it"),
        ("LATENESS of_late.b 3", "1:10: 'of_late' reads late_rows, so its own rows can't be late"),
    ],
)
def test_refused(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        annotated(text)
    assert str(raised.value).startswith(f"p.sql:{error}")


def test_without_views_there_are_none_yet() -> None:
    statement = only("LATENESS v.b 3")
    assert isinstance(statement, LatenessStatement)
    with pytest.raises(ProgramError, match="views so far: none yet; a table's columns are annotated where"):
        annotated_view(source_of("LATENESS v.b 3"), replace(statement), {}, ())
