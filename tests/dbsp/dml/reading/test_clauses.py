"""Names of tables, rows and columns, and DEFAULT, in any statement that changes rows."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.dml.reading.statements import read_statement
from dbsp.dml.statement import Insert, Update
from tests.dbsp.dml.reading.items import PROGRAM


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("DELETE FROM itm", "statement:1:13: unknown table 'itm'; tables: item, bag; did you mean 'item'"),
        ("UPDATE item SET nme = 1", "statement:1:17: unknown column 'nme' in 'item'; columns: id, name"),
        ("UPDATE item SET name = 'a', name = 'b'", "column 'name' is set twice"),
        ("UPDATE item SET name = 'a' FROM (SELECT 1)", "the query has no name"),
        ("UPDATE item SET bag.name = 'a'", "'bag' isn't what changes, which is item"),
        ("INSERT INTO item (id, id) VALUES (1, 1)", "column 'id' is listed twice"),
    ],
)
def test_what_is_wrong_is_said_where(text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        read_statement(text, PROGRAM)
