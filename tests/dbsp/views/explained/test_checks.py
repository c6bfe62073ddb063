"""What `dbsp check` says beside bounds; of each sink's promise see the tests of its target."""

from __future__ import annotations

from dataclasses import replace

from dbsp.sql.plans.nodes import Scan
from dbsp.views.explained.checks import notes
from tests.dbsp.build import VOTES, program, table, view


def test_what_is_ignored_stands_first() -> None:
    compiled = program([table("votes", VOTES)], [view("v", Scan("votes", VOTES))])
    assert [*notes(replace(compiled, notes=("p.sql:1:1: OPTIMIZE is ignored",)))] == [
        "p.sql:1:1: OPTIMIZE is ignored"
    ]


def test_a_source_that_loses_rows_is_told() -> None:
    votes = replace(table("votes", VOTES), format="socket")
    compiled = program([votes], [view("v", Scan("votes", VOTES))])
    told = (
        "table votes: socket can't be read again; what it sent and no step has committed is lost in a crash"
    )
    assert [*notes(compiled)] == [told]
