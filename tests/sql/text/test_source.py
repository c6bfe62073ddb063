"""`${NAME}` is filled in outside of comments, and every character keeps its place in the user's file."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.sql.text.source import read


def test_variables_are_filled_in_from_definitions_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DBSP_TEST_A", "from the environment")
    monkeypatch.setenv("DBSP_TEST_B", "b")
    source = read("'${DBSP_TEST_A}' ${ DBSP_TEST_B }", "p.sql", {"DBSP_TEST_A": "defined"})
    assert source.text == "'defined' b"


def test_comments_keep_their_variables() -> None:
    text = "-- ${NOBODY}\n/* ${NOBODY} */ SELECT '-- ${X}'"
    assert read(text, "p.sql", {"X": "x"}).text == text.replace("${X}", "x")


def test_an_unknown_variable_is_named_with_its_place_and_what_exists() -> None:
    with pytest.raises(ProgramError) as error:
        read("SELECT 1;\n  SELECT ${DATE}", "p.sql", {"DATA": "x"})
    assert str(error.value).startswith(
        "p.sql:2:10: ${DATE} is not defined; defined: DATA; use --define DATE="
    )


def test_positions_are_those_of_the_file_around_substitutions() -> None:
    text = "a ${LONG} b\n${S}c"
    source = read(text, "p.sql", {"LONG": "x" * 30, "S": ""})
    for word in "abc":
        offset, origin = source.text.index(word), text.index(word)
        line = text.count("\n", 0, origin) + 1
        column = origin - (text.rfind("\n", 0, origin) + 1) + 1
        assert source.position(offset) == (line, column), word
    assert source.position(source.text.index("xxx") + 5) == (1, 3)


def test_near_names_are_proposed() -> None:
    assert did_you_mean("amuont", ["id", "Amount"]) == "; did you mean 'Amount'?"
    assert did_you_mean("amount", ["zzz"]) == ""


def test_what_is_replaced_stands_in_the_place_that_it_stands_for() -> None:
    """Also beside values that were filled in, and again."""
    source = read("SELECT ${X}\nFROM 'a.csv' b", "p.sql", {"X": "price"})
    at = source.text.index("'a.csv'")
    edits = [(0, 0, "CREATE TABLE a; ", at), (at, at + len("'a.csv'"), "`a`", at)]
    made = source.replaced(edits)
    assert made.text == "CREATE TABLE a; SELECT price\nFROM `a` b"
    assert made.original == source.original
    for word, place in [
        ("TABLE", (2, 6)),
        ("SELECT", (1, 1)),
        ("ice", (1, 8)),
        ("`a`", (2, 6)),
        (" b", (2, 13)),
    ]:
        assert made.position(made.text.index(word)) == place
    assert made.position(len(made.text)) == (2, 15)
    again = made.replaced([(0, 6, "DROP", 0)])
    assert again.text.startswith("DROP TABLE a")
    assert again.position(again.text.index(" b")) == (2, 13)
