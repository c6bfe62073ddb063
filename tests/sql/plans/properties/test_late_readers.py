"""Which views come after `late_rows`: those that read it, at whatever distance."""

from __future__ import annotations

from dataclasses import replace

from dbsp.sql.plans.nodes import Distinct, Scan, Union
from dbsp.sql.plans.program import View
from dbsp.sql.plans.properties.late_readers import views_reading_late_rows
from tests.sql.hand_made import T, schema, view


def reading(name: str, *relations: str, component: tuple[str, ...] = ()) -> View:
    scans = tuple(Scan(relation, schema("a")) for relation in relations)
    return view(name, Distinct(Union(scans, schema("a"))), component=component)


def found(*views: View) -> set[str]:
    return views_reading_late_rows({one.name: one for one in views})


def test_directly_or_through_others() -> None:
    views = (
        reading("before", "t"),
        reading("first", "t", "late_rows"),
        reading("second", "before", "first"),
        reading("third", "second"),
    )
    assert found(*views) == {"first", "second", "third"}


def test_all_of_a_recursion_if_one_of_it_does() -> None:
    together = ("p", "q")
    p = reading("p", "q", "t", component=together)
    q = reading("q", "p", "late_rows", component=together)
    assert found(p, q, reading("after", "p")) == {"p", "q", "after"}


def test_the_late_rows_are_no_reader_of_themselves() -> None:
    late = replace(view("late_rows", T), plan=Scan("late_rows", T.schema))
    assert found(late, reading("other", "t")) == set()
