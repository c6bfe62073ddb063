"""Replay files: both spellings give the same deltas, and mistakes are placed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.commands.replays.files import queue, read_file
from dbsp.commands.shown.changelog import json_lines
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import pipeline, program, table, view

TYPES = (
    Field("i", pa.int32()),
    Field("d", pa.float64()),
    Field("m", pa.decimal128(10, 2)),
    Field("s", pa.string()),
    Field("b", pa.bool_()),
    Field("x", pa.binary()),
    Field("day", pa.date32()),
    Field("at", pa.timestamp("us", tz="UTC")),
    Field("ntz", pa.timestamp("us")),
    Field("l", pa.list_(pa.int32())),
    Field("st", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    Field("mp", pa.map_(pa.string(), pa.int32())),
)
FIRST = {
    "i": -1,
    "d": 1500.0,
    "m": Decimal("-12.50"),
    "s": 'it\'s -- "x"; ä',
    "b": True,
    "x": b"\x0a",
    "day": date(2024, 2, 29),
    "at": datetime(2024, 2, 29, 10, 0, 0, 500000, tzinfo=UTC),
    "ntz": datetime(2024, 2, 29, 10),
    "l": [1, None],
    "st": {"a": 1, "b": "x"},
    "mp": [("k", 1)],
}


def replay(text, name, compiled=None):
    """All steps' changes as lines."""
    with pipeline(program=compiled) as p:
        lines = []
        for step in read_file(text, name, p.program):
            queue(p, step)
            lines += json_lines(p.step(clock=step.clock))
        return lines


def mistake(text, name):
    with pytest.raises(DataError) as caught, pipeline() as p:
        for step in read_file(text, name, p.program):
            queue(p, step)
    assert p.queued == {}
    return str(caught.value)


def test_both_spellings_mean_the_same():
    json_ = """
        {"table": "votes", "row": {"user_id": 1, "story_id": 1}}
        {"table": "votes", "row": {"user_id": 2, "story_id": 1}, "weight": 2}
        {"table": "customer", "upsert": {"id": 7, "name": "x"}}
        {"table": "customer", "row": {"id": 8, "name": "y", "joined": "2024-01-01 00:00:00"}}
        {"step": true}

        {"table": "votes", "row": {"user_id": 2, "story_id": 1}, "weight": -1}
        {"table": "votes", "delete": {"user_id": 1, "story_id": 1}}
        {"table": "customer", "delete": {"id": 7}}
        {"table": "customer", "upsert": {"id": 7, "name": "z"}}
        {"table": "customer", "row": {"id": 8, "name": "whatever"}, "weight": -1}
        {"step": "2024-01-01 10:00:00"}
    """
    sql = """
        insert into votes values (1, 1), (2, 1), (2, 1);  -- votes
        UPSERT INTO customer VALUES (7, 'x', NULL); INSERT INTO Customer (NAME, id, joined)
          VALUES ('y', 8, TIMESTAMP '2024-01-01 00:00:00');
        STEP;
        DELETE FROM votes VALUES (2, 1), (1, 1); /* customers */ DELETE FROM customer VALUES (7);
        UPSERT INTO customer (id, name) VALUES (7, 'z');
        DELETE FROM customer VALUES (8, 'whatever', NULL);
        STEP AT TIMESTAMP '2024-01-01 10:00:00'
    """
    lines = replay(json_, "deltas.jsonl")
    assert lines == replay(sql, "deltas.sql")
    assert [line for line in lines if '"step": 2' in line] == [
        '{"step": 2, "view": "all_votes", "row": {"user_id": 1, "story_id": 1}, "weight": -1}',
        '{"step": 2, "view": "all_votes", "row": {"user_id": 2, "story_id": 1}, "weight": -1}',
        '{"step": 2, "view": "counts", "row": {"story_id": 1, "n": 1}, "weight": 1}',
        '{"step": 2, "view": "counts", "row": {"story_id": 1, "n": 3}, "weight": -1}',
        '{"step": 2, "view": "customers", "row": {"id": 7, "name": "x", "joined": null}, "weight": -1}',
        '{"step": 2, "view": "customers", "row": {"id": 7, "name": "z", "joined": null}, "weight": 1}',
        '{"step": 2, "view": "customers", "row": {"id": 8, "name": "y", "joined": "2024-01-01T00:00:00Z"},'
        ' "weight": -1}',
    ]


@pytest.mark.parametrize("name", ["d.jsonl", "d.sql"])
def test_a_trailing_step_may_be_left_out(name):
    texts = {
        "d.jsonl": '{"table": "votes", "row": {"user_id": 1}}\n{"step": true}\n',
        "d.sql": "INSERT INTO votes (user_id) VALUES (1); STEP;",
    }
    text = texts[name]
    cut = text[: text.index('{"step' if name == "d.jsonl" else "STEP")]
    with pipeline() as p:
        assert len(list(read_file(text, name, p.program))) == 1
        assert len(list(read_file(cut, name, p.program))) == 1
        assert len(list(read_file(text + text[len(cut) :], name, p.program))) == 2
        assert list(read_file("", name, p.program)) == []


def test_clocks():
    with pipeline() as p:
        (json_,) = read_file('{"step": "2024-01-01 10:00:00"}', "d", p.program)
        (sql,) = read_file("STEP AT TIMESTAMP '2024-01-01T10:00:00'", "d.sql", p.program)
    assert json_.clock == sql.clock == datetime(2024, 1, 1, 10)


SPELLINGS = {
    "json.jsonl": r"""{"table": "t", "row": {"i": -1, "d": 1.5e3, "m": "-12.50", "b": true,
        "s": "it's -- \"x\"; ä", "x": "Cg==", "day": "2024-02-29", "at": "2024-02-29 10:00:00.5",
        "ntz": "2024-02-29T10:00:00", "l": [1, null], "st": {"a": 1, "b": "x"}, "mp": [["k", 1]]}}""".replace(
        "\n", " "
    ),
    "numbers.jsonl": r"""{"table": "t", "row": {"i": -1.0, "d": 1500, "m": -12.5, "b": true,
        "s": "it's -- \"x\"; ä", "x": "Cg==", "day": "2024-02-29", "at": "2024-02-29T12:00:00.5+02:00",
        "ntz": "2024-02-29 10:00:00", "l": [1, null], "st": {"b": "x", "a": 1}, "mp": {"k": 1}}}""".replace(
        "\n", " "
    ),
    "typed.sql": r"""INSERT INTO t VALUES (-1, 1.5e3, -12.50, 'it\'s -- "x"; ä', TRUE, X'0A',
        DATE '2024-02-29', TIMESTAMP '2024-02-29 10:00:00.5', TIMESTAMP_NTZ '2024-02-29 10:00:00',
        ARRAY(1, NULL), NAMED_STRUCT('a', 1, 'b', 'x'), MAP('k', 1))""",
    "plain.sql": r"""INSERT INTO t VALUES (- 1L, 1500D, -12.5BD, "it's -- \"x\"; ä", true, 'Cg==',
        '2024-02-29', '2024-02-29 10:00:00.5', '2024-02-29 10:00:00',
        array(1, null), struct(1, 'x'), map('k', +1))""",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_values_of_every_type(name):
    compiled = program([table("t", TYPES)], [view("v", Scan("t", TYPES))])
    with pipeline(program=compiled) as p:
        for step in read_file(SPELLINGS[name], name, p.program):
            queue(p, step)
        p.step()
        assert p["v"].rows() == [FIRST]


JSON_MISTAKES = [
    ("{", ["d:1:", "no JSON", '{"table": ...']),
    ("7", ["d:1: 7 is no object"]),
    ('{"table": "vots", "row": {}}', ["d:1: unknown table 'vots'", "tables: votes, customer", "'votes'?"]),
    ('{"table": "counts", "row": {}}', ["d:1: 'counts' is a view (", "rows go into tables; tables: votes"]),
    ('{"row": {}}', ["d:1: no table", "tables: votes"]),
    ('{"table": "votes"}', ["d:1: neither row, upsert nor delete"]),
    ('{"table": "customer", "upsert": {}, "delete": {}}', ["d:1: both upsert and delete"]),
    ('{"table": "votes", "row": {}, "wieght": 1}', ["d:1: unknown key 'wieght'", "'weight'?"]),
    ('{"table": "votes", "row": [1, 1]}', ["d:1: row is [1, 1]", "an object with the columns"]),
    ('{"table": "votes", "row": {}, "weight": 0}', ["d:1: weight 0", "other than 0"]),
    ('{"table": "votes", "row": {}, "weight": true}', ["d:1: weight True"]),
    ('{"table": "customer", "row": {"id": 1}, "weight": 2}', ["d:1: weight 2", "PRIMARY KEY"]),
    ('{"table": "votes", "upsert": {}}', ["d:1: table 'votes' has no PRIMARY KEY", "use row"]),
    ('{"table": "event", "row": {"id": 1}, "weight": -1}', ["d:1: table 'event' is append-only"]),
    (
        '{"table": "votes", "row": {"story_id": 1e30}}',
        ["d:1: table 'votes'", "1E+30", "(BIGINT): it is beyond -9223372036854775808"],
    ),
    (
        '{"table": "votes", "row": {"story_id": 1, "STORY_ID": 2}}',
        ["d:1: table 'votes': 'story_id' and 'STORY_ID'"],
    ),
    (
        '{"table": "votes", "row": {"story_id": 1.5}}',
        ["d:1: table 'votes': 1.5 doesn't fit column 'story_id'"],
    ),
    (
        '{"table": "customer", "row": {"id": 1, "joined": 17000}}',
        ["d:1: table 'customer': 17000", "expected a time"],
    ),
    ('{"step": 5}', ["d:1: step 5", "'2024-02-29 10:00:00'"]),
    ('{"step": "soon"}', ["d:1: step 'soon'"]),
    (
        '{"table": "votes", "row": {"user_id": 1}}\n{"table": "votes", "row": {"usr_id": 1}}',
        ["d:2: table 'votes'", "'usr_id'", "'user_id'?"],
    ),
    (
        '{"table": "votes", "row": {}}\n\n{"table": "votes", "row": {"user_id": "x"}}',
        ["d:3: table 'votes'", "'x'", "give an int"],
    ),
    ('{"table": "customer", "upsert": {"name": "x"}}', ["d:1: table 'customer'", "'id' (BIGINT NOT NULL)"]),
    (
        '{"table": "customer", "upsert": {"id": 1, "joined": "soon"}}',
        ["d:1: table 'customer'", "'soon' doesn't fit column 'joined'", "expected a time"],
    ),
    (
        '{"table": "event", "row": {"id": 1, "amount": 0.001}}',
        ["d:1: table 'event'", "2 digits after the point"],
    ),
]


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1e400"])
def test_a_double_out_of_range(number):
    compiled = program([table("t", TYPES)], [view("v", Scan("t", TYPES))])
    text = f'{{"table": "t", "row": {{"d": {number}}}}}'
    with (
        pipeline(program=compiled) as p,
        pytest.raises(DataError, match=r"^d:1: table 't'.*range of a DOUBLE"),
    ):
        for step in read_file(text, "d", p.program):
            queue(p, step)


@pytest.mark.parametrize(("text", "said"), JSON_MISTAKES, ids=[said[0] for _, said in JSON_MISTAKES])
def test_mistakes_in_json(text, said):
    message = mistake(text, "d")
    assert message.startswith(said[0])
    for words in said[1:]:
        assert words in message


def test_a_step_with_a_mistake_queues_nothing():
    with pipeline() as p:
        steps = read_file(
            "INSERT INTO event VALUES (1, 2); INSERT INTO votes VALUES ('x', 1)", "d.sql", p.program
        )
        with pytest.raises(DataError):
            queue(p, next(steps))
        assert p.queued == {}
