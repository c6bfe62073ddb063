"""Statements as they are written: what is read here, what the compiler reads, and what is wrong where."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.dml.reading import is_statement, read_statement
from dbsp.dml.statement import Conflict, Delete, Insert, Merge, Update, When, Where
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import program, table

ITEM = (
    Field("id", pa.int64(), False),
    Field("name", pa.string()),
    Field("price", pa.decimal128(5, 2)),
    Field("day", pa.date32()),
)
PROGRAM = program([table("item", ITEM, ("id",)), table("bag", ITEM)], [])
T = PROGRAM.tables["item"]


def test_values_are_read_here() -> None:
    found = read_statement("INSERT INTO item (id, price) VALUES (1, 2.5), (2L, NULL);", PROGRAM)
    rows = [{"id": 1, "price": Decimal("2.5")}, {"id": 2, "price": None}]
    assert found == Insert(T, ("id", "price"), rows)
    found = read_statement("insert into ITEM values ((1), 'it''s', -1.5, DATE '2024-02-29')", PROGRAM)
    assert isinstance(found, Insert) and found.rows is not None
    assert found.rows[0]["day"] == date(2024, 2, 29) and found.columns == ("id", "name", "price", "day")


@pytest.mark.parametrize(
    "query",
    [
        "VALUES (1 + 1, '', 1, NULL)",
        "SELECT * FROM bag",
        "(SELECT * FROM bag)",
        "WITH b AS (SELECT 1) FROM b",
    ],
)
def test_the_rest_is_a_query(query: str) -> None:
    found = read_statement(f"INSERT INTO item {query} ON CONFLICT (id) DO NOTHING", PROGRAM)
    assert isinstance(found, Insert)
    assert (found.rows, found.query, found.conflict) == (None, query, Conflict())


def test_conflicts() -> None:
    text = (
        "INSERT INTO item (id) VALUES (1) ON CONFLICT DO UPDATE SET name = EXCLUDED.name, day = excluded.day"
    )
    found = read_statement(text, PROGRAM)
    assert isinstance(found, Insert) and found.conflict == Conflict(("name", "day"))


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


def test_values_of_the_clock_are_selected() -> None:
    said = "INSERT INTO item (id, day) VALUES (1, CURRENT_DATE), ((2), date(now() - INTERVAL (1) DAY))"
    found = read_statement(f"{said} ON CONFLICT DO NOTHING", PROGRAM)
    assert isinstance(found, Insert) and found.conflict == Conflict()
    query = "SELECT 1, CURRENT_DATE UNION ALL SELECT (2), date(now() - INTERVAL (1) DAY)"
    assert (found.rows, found.query) == (None, query)


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


def test_truncate_is_delete() -> None:
    assert read_statement("TRUNCATE TABLE item", PROGRAM) == Delete(T, Where())
    assert read_statement("truncate bag;", PROGRAM) == Delete(PROGRAM.tables["bag"], Where())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("DELETE FROM itm", "statement:1:13: unknown table 'itm'; tables: item, bag; did you mean 'item'"),
        ("UPDATE item SET nme = 1", "statement:1:17: unknown column 'nme' in 'item'; columns: id, name"),
        ("UPDATE item SET name = 'a', name = 'b'", "column 'name' is set twice"),
        ("UPDATE item SET name =", "name = what"),
        ("DELETE FROM item WHERE", "WHERE what"),
        ("UPDATE item SET name = 'a' WHERE;", "WHERE what"),
        ("UPDATE item SET day = 'x'", "'x' doesn't fit column 'day'"),
        ("UPDATE item SET name = 'a' FROM (SELECT 1)", "the query has no name"),
        ("UPDATE item SET bag.name = 'a'", "'bag' isn't what changes, which is item"),
        ("WITH c AS (SELECT 1) DROP TABLE item", "unknown statement"),
        ("DELETE FROM item WHERE id = 1 RETURNING id", "RETURNING isn't known here"),
        ("INSERT INTO item (id, id) VALUES (1, 1)", "column 'id' is listed twice"),
        ("INSERT INTO item (id) VALUES (1, 2)", r"2 values for 1 columns \(id\)"),
        ("INSERT INTO item", "expected VALUES"),
        ("INSERT INTO bag VALUES (1, '', 1, NULL) ON CONFLICT DO NOTHING", "no PRIMARY KEY"),
        ("INSERT INTO item (id) VALUES (1) ON CONFLICT (name) DO NOTHING", r"the key of 'item' is \(id\)"),
        ("INSERT INTO item (id) VALUES (1) ON CONFLICT DO UPDATE SET name = 'x'", "expected EXCLUDED"),
        ("INSERT INTO item (id) VALUES (1) RETURNING id", "RETURNING isn't known here"),
        ("MERGE INTO item", "expected USING"),
        ("UPSERT INTO bag VALUES (1, '', 1, NULL)", "no PRIMARY KEY to upsert by"),
        ("UPSERT INTO item (id) VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT is of INSERT"),
        ("REPLACE INTO item", "unknown statement 'REPLACE'"),
    ],
)
def test_what_is_wrong_is_said_where(text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        read_statement(text, PROGRAM)


def test_what_begins_a_statement() -> None:
    assert all(
        map(
            is_statement, ["insert into t values (1)", "\n DELETE FROM t", "Update t set a = 1", "TRUNCATE t"]
        )
    )
    assert not any(map(is_statement, ["SELECT 1", "", "-- x\nSELECT 1", "VALUES (1)", "DELETED"]))


def test_a_with_is_of_all_its_queries() -> None:
    for text in (
        "UPDATE item SET name = id",
        "DELETE FROM item WHERE id IN (TABLE c)",
        "INSERT INTO item TABLE c",
    ):
        assert is_statement(f"with c AS (SELECT 1 AS id) {text}")
        found = read_statement(f"with c AS (SELECT 1 AS id) {text};", PROGRAM)
        assert found.ctes == "with c AS (SELECT 1 AS id)"
        assert replace(found, ctes="") == read_statement(text, PROGRAM)
    for query in ("SELECT 1", "(SELECT 1)", "VALUES (1)"):
        assert not is_statement(f"WITH insert AS (SELECT 1) {query}")


def test_default_is_no_value() -> None:
    listed, computed = (
        read_statement(f"INSERT INTO item (id, name) VALUES ({one}, DEFAULT), (2, 'default')", PROGRAM)
        for one in ("1", "1 + 1")
    )
    assert isinstance(listed, Insert)
    assert listed.rows == [{"id": 1, "name": None}, {"id": 2, "name": "default"}]
    assert isinstance(computed, Insert)
    assert computed.query == "VALUES (1 + 1, NULL), (2, 'default')"
    with pytest.raises(ProgramError, match="VALUES have no names"):
        read_statement("INSERT INTO TABLE item BY NAME VALUES (1)", PROGRAM)
    timed = read_statement("INSERT INTO item VALUES (hour(now()), DEFAULT)", PROGRAM)
    assert isinstance(timed, Insert)
    assert timed.query == "SELECT hour(now()), NULL"
    update = read_statement("UPDATE item x SET x.name = DEFAULT", PROGRAM)
    assert isinstance(update, Update)
    assert (update.texts, update.values) == ({"name": "NULL"}, {"name": None})


def test_what_another_relation_matches_is_a_merge() -> None:
    update = read_statement("UPDATE item AS i SET name = b.s FROM bag b WHERE b.a = i.id", PROGRAM)
    delete = read_statement("DELETE FROM item USING (SELECT 1 AS a) b WHERE b.a = item.id", PROGRAM)
    table = PROGRAM.input("item")
    matched = When("matched", "", {"name": "b.s"})
    assert update == Merge(table, "i", "bag AS `b`", "b.a = i.id", (matched,))
    gone = When("matched", "", None)
    assert delete == Merge(table, "item", "(SELECT 1 AS a) AS `b`", "b.a = item.id", (gone,))
