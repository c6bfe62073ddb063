"""What a run shows, step by step."""

from __future__ import annotations

import io
import json
import signal
from dataclasses import replace

import click
import pyarrow as pa
import pytest
from rich.console import Console

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Column
from dbsp.commands.process.stopping import Stopped
from dbsp.commands.run import parse_seconds, stopping
from dbsp.commands.shown import ordered_rows
from dbsp.commands.shown.display import Display, Lines, Printed, display, progress_of
from dbsp.commands.shown.listing import listing
from dbsp.commands.shown.live import LiveTable
from dbsp.commands.shown.ordered_rows import OrderedRows
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Scan
from dbsp.views.outputs import output_views
from tests.dbsp.build import EVENT, pipeline, program, table, view, votes_program


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


def steps(p):
    """Two steps: three votes, then one less."""
    p.insert("votes", [(1, 1), (2, 1), (3, None)])
    yield p.step()
    p.delete("votes", [(1, 1)])
    yield p.step()


def shown(p, kind, *options):
    out = io.StringIO()
    view = kind(p, out, *options)
    for changes in steps(p):
        view.step(changes)
    return out.getvalue()


def printed(p, output, changelog="retract"):
    return shown(p, Printed, listing(p, output, changelog))


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


def test_a_line_a_step_where_nothing_can_be_redrawn(p):
    first, second = shown(p, Lines, 2).splitlines()
    assert first.startswith("step 1 (1 of 2)   3 rows   ")
    assert "all_votes 3   counts 2   customers 0" in first
    assert second.startswith("step 2 (2 of 2)   4 rows   ")
    assert "all_votes 2   counts 2" in second


def test_progress_goes_on_from_what_is_there(p):
    list(steps(p))
    out = io.StringIO()
    lines = Lines(p, out, None)
    p.insert("votes", [(9, 9)])
    lines.step(p.step())
    assert out.getvalue().startswith("step 3   1 rows")
    assert "all_votes 3   counts 3" in out.getvalue()


def live(p, expected=None):
    names = output_views(p.program)
    return LiveTable("program.sql", progress_of(p, expected), [OrderedRows(p, name) for name in names])


def drawn(table, height=50):
    console = Console(file=io.StringIO(), width=80)
    console.print(table.draw(height))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_live_table_names_views_sizes_and_changes(p):
    table = live(p, 2)
    for changes in steps(p):
        table.step(changes)
    lines = drawn(table)
    assert ["counts", "2", "+1", "−1"] in [line.split() for line in lines]
    assert lines[1].startswith("step 2 (2 of 2)")
    assert "━" in lines[2]


def ordered(*order):
    """The votes program, of which all_votes has an order."""
    program = votes_program()
    program.views["all_votes"] = replace(program.views["all_votes"], order=order)
    return pipeline(program=program)


FALLING = SortOrder(Column(1, pa.int64()), descending=True, nulls_last=True), SortOrder(Column(0, pa.int64()))


def test_the_live_table_shows_the_first_rows_in_the_views_order():
    with ordered(*FALLING) as p:
        table = live(p)
        p.insert("votes", [(3, None), (1, 1), (2, 5), (4, 5), (4, 5)])
        table.step(p.step())
        lines = drawn(table)
        first = lines.index("all_votes")
        assert [line.split() for line in lines[first + 1 : first + 7]] == [
            ["user_id", "story_id"], ["2", "5"], ["4", "5"], ["4", "5"], ["1", "1"], ["3", "NULL"],
        ]  # fmt: skip
        p.delete("votes", [(4, 5), (1, 1)])
        p.insert("votes", [(9, 9)])
        table.step(p.step())
        lines = drawn(table)
        first = lines.index("all_votes")
        assert [line.split()[0] for line in lines[first + 2 : first + 6]] == ["9", "2", "4", "3"]


@pytest.mark.parametrize("height", [5, 10, 15, 20, 40])
def test_the_live_table_fits_its_terminal(p, height):
    table = live(p, 2)
    p.insert("votes", [(user, user) for user in range(60)])
    table.step(p.step())
    lines = drawn(table, height)
    assert len(lines) <= max(height, 9)
    assert ("all_votes, " in "\n".join(lines)) == (height >= 15)


def test_of_a_view_that_grew_large_the_live_table_says_so_until_it_is_small_again(p, monkeypatch):
    monkeypatch.setattr(ordered_rows, "FEW", 10)
    table = live(p)
    too_many = "all_votes: too many rows to keep in order here; `dbsp query` lists them"
    p.insert("votes", [(user, 1) for user in range(8)])
    table.step(p.step())
    assert "all_votes" in drawn(table)
    p.insert("votes", [(user, 1) for user in range(8, 12)])
    table.step(p.step())
    assert too_many in drawn(table)
    p.delete("votes", [(user, 1) for user in range(2)])
    table.step(p.step())
    assert too_many in drawn(table)  # not back and forth at every step
    p.delete("votes", [(user, 1) for user in range(2, 9)])
    table.step(p.step())
    lines = drawn(table)
    first = lines.index("all_votes")
    assert [line.split()[0] for line in lines[first + 2 : first + 5]] == ["9", "10", "11"]


def test_a_pipe_gets_lines_for_a_live_table(p, capsys):
    with display("live-table", p, None) as view:
        for changes in steps(p):
            view.step(changes)
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(("text", "seconds"), [("1s", 1.0), ("500ms", 0.5), ("1.5 m", 90.0), ("2h", 7200.0)])
def test_times(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["1", "s", "-1s", "1 fortnight", ""])
def test_what_is_no_time(text):
    with pytest.raises(click.BadParameter, match="write it as 1s"):
        parse_seconds(text)


def test_the_first_interrupt_asks_and_the_second_insists(p, capsys):
    before = signal.getsignal(signal.SIGINT)
    with stopping(Display(p, io.StringIO())) as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
    assert "stopping after this step" in capsys.readouterr().err
    with pytest.raises(Stopped, match="interrupted"), stopping(Display(p, io.StringIO())):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
