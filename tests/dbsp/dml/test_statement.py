"""Statements are values."""

from __future__ import annotations

from dbsp.dml.statement import Conflict, Delete, Where
from tests.dbsp.build import VOTES, table


def test_equal_statements_are_equal() -> None:
    votes = table("votes", VOTES)
    assert Delete(votes, Where("", "user_id = 1", {"user_id": 1})) == Delete(
        votes, Where("", "user_id = 1", {"user_id": 1})
    )
    assert Where() != Where("v") and Conflict() != Conflict(("a",))
