"""Which views stand for their queries where a stream reads them."""

from __future__ import annotations

from dataclasses import replace

from dbsp.sql.compiler.streams.definitions import with_definitions
from dbsp.sql.plans.nodes import Distinct, Filter, Project, Scan
from dbsp.sql.plans.verify import verify
from tests.sql.compiler.streams.test_on_arrival import CHANGES, GROWS, joined
from tests.sql.hand_made import T, U, positive

MET = joined(T, U)
VIEW = Scan("met", tuple(replace(field, name=f"its_{field.name}") for field in MET.schema))
AGAIN = Scan("again", VIEW.schema)
VIEWS = {"met": MET, "again": Filter(VIEW, positive(0))}


def test_a_view_in_which_a_stream_meets_a_table_that_changes_is_its_query() -> None:
    found = with_definitions(Distinct(VIEW), VIEWS, {"t", "met"}, CHANGES)
    verify(found)
    assert isinstance(found, Distinct)
    assert isinstance(found.input, Project)  # under the view's names
    assert (found.input.input, found.schema) == (MET, VIEW.schema)


def test_so_is_a_view_of_a_view() -> None:
    found = with_definitions(AGAIN, VIEWS, {"t", "met", "again"}, CHANGES)
    verify(found)
    assert found.schema == AGAIN.schema
    assert found.scanned() == {"t", "u"}


def test_others_are_read_as_they_are() -> None:
    for streams, grows in (({"t", "met"}, GROWS), ({"met"}, CHANGES), ({"t", "u", "met"}, CHANGES)):
        assert with_definitions(Distinct(VIEW), VIEWS, streams, grows) == Distinct(VIEW)
    assert with_definitions(VIEW, {}, {"t", "met"}, CHANGES) == VIEW
