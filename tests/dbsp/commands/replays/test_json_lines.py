"""Replays as JSON lines: what each line says, and what is said of one that says nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from dbsp.circuits.errors import DataError
from dbsp.commands.replays.json_lines import read_json
from dbsp.commands.replays.steps import Change
from tests.dbsp.build import votes_program

PROGRAM = votes_program()


def test_lines_are_steps_and_changes() -> None:
    lines = [
        '{"table": "VOTES", "row": {"user_id": 1, "story_id": 2}, "weight": -3}',
        "",
        '{"table": "customer", "upsert": {"ID": 7, "name": "x"}}',
        '{"step": "2024-01-01 10:00:00"}',
        '{"step": true}',
        '{"table": "customer", "delete": {"id": 7}}',
        '{"table": "event", "row": {"amount": 1.50}}',
    ]
    first, empty, last = read_json(lines, "f", PROGRAM)
    assert first.changes == {
        "votes": [Change({"user_id": 1, "story_id": 2}, -3, False, "f:1")],
        "customer": [Change({"ID": 7, "name": "x"}, 1, False, "f:3")],
    }
    assert first.clock is not None
    assert first.clock.replace(tzinfo=UTC) == datetime(2024, 1, 1, 10, tzinfo=UTC)
    assert (empty.changes, empty.clock) == ({}, None)
    assert last.changes == {
        "customer": [Change({"id": 7}, -1, True, "f:6")],
        "event": [Change({"amount": Decimal("1.50")}, 1, False, "f:7")],
    }
    assert list(read_json([], "f", PROGRAM)) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "f:1:2: no JSON: Expecting property name"),
        ('{"step": 1e99999999999999999999}', "f:1: a number in it is beyond the range of every type"),
        ("DELETE FROM t;", "; a file of SQL is named .sql"),
        ("[1]", "f:1: [1] is no object; a line is"),
        ('{"row": {}}', "f:1: no table; a line is"),
        ('{"table": "vots", "row": {}}', "f:1: unknown table 'vots'"),
        ('{"table": "votes"}', "f:1: neither row, upsert nor delete; a line is"),
        ('{"table": "votes", "row": {}, "delete": {}}', "f:1: both row and delete; a line is"),
        ('{"table": "votes", "row": [1]}', "f:1: row is [1]; give an object with the columns of 'votes'"),
        ('{"table": "votes", "row": {}, "weigt": 1}', "unknown key 'weigt'; keys here: row, table, weight"),
        ('{"table": "votes", "row": {}, "weight": 0}', "f:1: weight 0; give an integer other than 0"),
        ('{"table": "votes", "row": {}, "weight": true}', "f:1: weight True; give an integer"),
        ('{"table": "votes", "row": {}, "weight": 4611686018427387904}', "give an integer other than 0"),
        ('{"table": "customer", "row": {}, "weight": 2}', "'customer' has a PRIMARY KEY: 1 or -1"),
        ('{"table": "votes", "upsert": {}}', "'votes' has no PRIMARY KEY to upsert by; use row"),
        ('{"step": false}', "f:1: step False; give true, or a time such as"),
        ('{"step": "noon"}', "f:1: step 'noon'; give true, or a time such as"),
        ('{"step": true, "table": "votes"}', "unknown key 'table'; keys here: step"),
        (
            '{"table": "customer", "row": {"id": 1, "joined": "noon"}}',
            "table 'customer': 'noon' doesn't fit column 'joined'",
        ),
    ],
)
def test_a_mistake_is_placed(line: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_json([line], "f", PROGRAM))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
