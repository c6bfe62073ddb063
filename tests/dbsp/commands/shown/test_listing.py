"""A step as lines: of a changelog in every shape and spelling, or whole views."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.commands.shown.display import Printed
from dbsp.commands.shown.listing import listing
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.nodes import Scan
from tests.dbsp.build import EVENT, pipeline, program, table, view, votes_program
from tests.dbsp.commands.shown.pipelines import steps


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


def printed(p, output, changelog="retract"):
    out = io.StringIO()
    shown = Printed(p, out, listing(p, output, changelog))
    for changes in steps(p):
        shown.step(changes)
    return out.getvalue()


def test_json_is_the_changelog(p):
    lines = [json.loads(line) for line in printed(p, "json").splitlines()]
    assert [(line["step"], line["view"], line["weight"]) for line in lines if line["view"] == "counts"] == [
        (1, "counts", 1),
        (1, "counts", 1),
        (2, "counts", 1),
        (2, "counts", -1),
    ]


def test_csv_has_a_header_wherever_the_view_changes(p):
    assert printed(p, "csv").splitlines() == [
        "__step,__view,__weight,user_id,story_id",
        "1,all_votes,1,1,1",
        "1,all_votes,1,2,1",
        "1,all_votes,1,3,",
        "__step,__view,__weight,story_id,n",
        "1,counts,1,,1",
        "1,counts,1,1,2",
        "__step,__view,__weight,user_id,story_id",
        "2,all_votes,-1,1,1",
        "__step,__view,__weight,story_id,n",
        "2,counts,1,1,1",
        "2,counts,-1,1,2",
    ]


def test_csv_quotes_what_needs_it(p):
    p.upsert("customer", [{"id": 1, "name": 'a, "b"', "joined": None}, {"id": 2, "name": "", "joined": None}])
    out = io.StringIO()
    Printed(p, out, listing(p, "csv", "retract")).step(p.step())
    assert out.getvalue().splitlines()[1:] == ['1,customers,1,1,"a, ""b""",', "1,customers,1,2,,"]


def customers(p):
    """The customers of two steps: Ada and Bo, then Ada has a new name, Bo goes and Cy comes."""
    for name in ("Ada", "Bo"):
        p.upsert("customer", [{"id": ord(name[0]), "name": name, "joined": None}])
    yield p.step()
    p.upsert(
        "customer", [{"id": 65, "name": "Ada L", "joined": None}, {"id": 67, "name": "Cy", "joined": None}]
    )
    p.delete("customer", [{"id": 66}])
    yield p.step()


UPSERTS = {
    "json": [
        '{"step": 2, "view": "customers", "row": {"id": 65, "name": "Ada L", "joined": null}, "op": "U"}',
        '{"step": 2, "view": "customers", "row": {"id": 66}, "op": "D"}',
        '{"step": 2, "view": "customers", "row": {"id": 67, "name": "Cy", "joined": null}, "op": "I"}',
    ],
    "csv": ["2,customers,U,65,Ada L,", "2,customers,D,66,,", "2,customers,I,67,Cy,"],
    "text": [
        '  customers  U  id=65 name="Ada L" joined=NULL',
        "  customers  D  id=66",
        "  customers  I  id=67 name=Cy joined=NULL",
    ],
}


@pytest.mark.parametrize("output", UPSERTS)
def test_upserts_name_what_they_do(output):
    out = io.StringIO()
    program = votes_program()
    views = {name: view for name, view in program.views.items() if name != "all_votes"}
    with pipeline(program=replace(program, views=views, circuit=lower(program.tables, views))) as p:
        display_ = Printed(p, out, listing(p, output, "upsert"))
        for changes in customers(p):
            display_.step(changes)
    lines = out.getvalue().splitlines()
    assert lines[-3:] == UPSERTS[output]
    if output == "csv":
        assert lines[0] == "__step,__view,__op,id,name,joined"


def test_a_shape_that_a_view_cannot_have_is_refused(p):
    with pytest.raises(ProgramError) as raised:
        listing(p, "json", "upsert")
    assert str(raised.value) == (
        "program.sql:9:1: view 'all_votes' has no stream key, so there is nothing to upsert by; "
        "use --changelog retract"
    )
    with pytest.raises(ProgramError, match="view 'all_votes' can take rows back, which an append can't say"):
        listing(p, "csv", "append")


def test_an_append_has_each_row_as_often_as_it_is_there():
    tables = [table("event", EVENT, append_only=True)]
    events = view("events", Scan("event", EVENT), append_only=True)
    with pipeline(program=program(tables, [events])) as p:
        p.insert("event", [(1, None), (1, None), (2, None)])
        changes = p.step()
        row = '{"step": 1, "view": "events", "row": {"id": 1, "amount": null}}'
        assert [*listing(p, "json", "append")(changes)] == [row, row, row.replace('"id": 1', '"id": 2')]
        header, *lines = listing(p, "csv", "append")(changes)
        assert (header, lines) == ("__step,__view,id,amount", ["1,events,1,"] * 2 + ["1,events,2,"])
        assert [*listing(p, "csv", "upsert")(changes)][1:] == ["1,events,I,1,"] * 2 + ["1,events,I,2,"]


def test_tables_show_whole_views(p):
    assert printed(p, "table").split("step 2: ")[1:] == [
        "all_votes\nuser_id  story_id\n-------  --------\n      2         1\n      3      NULL\n",
        "counts\nstory_id  n\n--------  -\n    NULL  1\n       1  1\n",
    ]


def test_long_tables_are_cut_and_say_so(p):
    p.insert("votes", [(1, 1)] * 30)
    out = io.StringIO()
    Printed(p, out, listing(p, "table", "retract")).step(p.step())
    head, *lines = out.getvalue().splitlines()
    assert head == "step 1: all_votes, 20 of 30 rows"
    assert lines[2:22] == ["      1         1"] * 20
