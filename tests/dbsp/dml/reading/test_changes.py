"""UPDATE and DELETE: what is nothing but values is read here; what another relation matches is a MERGE."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.dml.reading.statements import read_statement
from dbsp.dml.statement import Delete, Merge, Update, When, Where
from tests.dbsp.dml.reading.items import PROGRAM, T


@pytest.mark.parametrize(
    ("condition", "equal"),
    [
        ("id = 7", {"id": 7}),
        ("item.id = 7 AND Name = 'a' AND price = 1.50", {"id": 7, "name": "a", "price": Decimal("1.50")}),
        ("day = DATE '2024-01-31'", {"day": date(2024, 1, 31)}),
        ("id = '7'", None),
        ("name = 7", None),
        ("id = NULL", None),
        ("price = 1.505", None),
        ("id = 7 OR id = 8", None),
        ("id = 7 AND id = 8", None),
        ("id = 7 + 1", None),
        ("other.id = 7", None),
        ("id = 99999999999999999999", None),
    ],
)
def test_a_condition_that_is_a_look_up(condition: str, equal: object) -> None:
    assert read_statement(f"DELETE FROM item WHERE {condition}", PROGRAM) == Delete(
        T, Where("", condition, equal)
    )


def test_updates() -> None:
    found = read_statement("UPDATE item AS t SET name = 'a', price = 2 WHERE t.id = 1", PROGRAM)
    assert found == Update(
        T, Where("t", "t.id = 1", {"id": 1}), {"name": "'a'", "price": "2"}, {"name": "a", "price": 2}
    )
    found = read_statement(
        "UPDATE item SET name = concat(name, ','), price = (SELECT max(price) FROM bag)", PROGRAM
    )
    assert isinstance(found, Update) and found.values is None
    assert found.texts == {"name": "concat(name, ',')", "price": "(SELECT max(price) FROM bag)"}
    assert found.where == Where()


def test_what_another_relation_matches_is_a_merge() -> None:
    update = read_statement("UPDATE item AS i SET name = b.s FROM bag b WHERE b.a = i.id", PROGRAM)
    delete = read_statement("DELETE FROM item USING (SELECT 1 AS a) b WHERE b.a = item.id", PROGRAM)
    table = PROGRAM.input("item")
    matched = When("matched", "", {"name": "b.s"})
    assert update == Merge(table, "i", "bag AS `b`", "b.a = i.id", (matched,))
    gone = When("matched", "", None)
    assert delete == Merge(table, "item", "(SELECT 1 AS a) AS `b`", "b.a = item.id", (gone,))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("UPDATE item SET name =", "name = what"),
        ("DELETE FROM item WHERE", "WHERE what"),
        ("UPDATE item SET name = 'a' WHERE;", "WHERE what"),
        ("UPDATE item SET day = 'x'", "'x' doesn't fit column 'day'"),
        ("DELETE FROM item WHERE id = 1 RETURNING id", "RETURNING isn't known here"),
    ],
)
def test_what_is_wrong_is_said_where(text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        read_statement(text, PROGRAM)
