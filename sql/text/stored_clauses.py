"""Clauses of CREATE TABLE and CREATE VIEW that say how rows are stored, or who may see them.

COMMENT 'text'                               says nothing to a machine
TBLPROPERTIES (...), PARTITIONED BY (...), CLUSTER BY (...), CLUSTERED BY (...) INTO n BUCKETS,
WITH SCHEMA ..., SCHEDULE ..., FOREIGN KEY   ignored, with a note: they change no row
WITH ROW FILTER, MASK, UNIQUE, the collation of a view's constants   refused: they would
"""

from __future__ import annotations

from dbsp.sql.text.tokens import Cursor, Token

_LAYOUT = "rows are stored by the keys that queries look them up by"
_IGNORED = {
    ("TBLPROPERTIES",): "there is no table to have them",
    ("PARTITIONED", "BY"): _LAYOUT,
    ("PARTITIONED", "ON"): _LAYOUT,
    ("CLUSTER", "BY"): _LAYOUT,
    ("CLUSTERED", "BY"): _LAYOUT,
    ("SKEWED", "BY"): _LAYOUT,
    ("WITH", "SCHEMA"): "a view has the columns of its query",
    ("SCHEDULE",): "a view is maintained at every step; TRIGGER and EMIT say when its changes leave",
    ("FOREIGN", "KEY"): "rows that refer to each other may come in any order",
    ("REFERENCES",): "rows that refer to each other may come in any order",
}
_REFUSED = {
    ("WITH", "ROW", "FILTER"): "a row filter; write WHERE in a view",
    ("ROW", "FILTER"): "a row filter; write WHERE in a view",
    (
        "UNIQUE",
    ): "UNIQUE; a PRIMARY KEY is checked, and a view by count(*) ... HAVING count(*) > 1 finds the others",
    ("MASK",): "a column mask; write a view",
    ("ROW", "FORMAT"): "ROW FORMAT; write USING csv OPTIONS (...)",
    ("STORED", "BY"): "STORED BY; write USING format OPTIONS (...)",
    ("STORED", "AS", "INPUTFORMAT"): "STORED AS INPUTFORMAT; write USING format OPTIONS (...)",
    ("WITH", "METRICS"): "a view WITH METRICS; write its measures as columns of a CREATE VIEW",
    ("USING",): "a view USING files; write CREATE TABLE name USING format OPTIONS (...)",
}
_SCHEMA_MODES = ("BINDING", "COMPENSATION", "TYPE", "EVOLUTION")


def stored_clause(cursor: Cursor) -> Token | None:
    """Reads one; its first token, or None where none stands here."""
    first = cursor.next
    for words, what in _REFUSED.items():
        if cursor.sees(*words):
            cursor.fail(f"not supported: {what}")
    if cursor.accept("COMMENT"):
        cursor.accept("=")
        cursor.value()
        return first
    if cursor.accept("DEFAULT", "COLLATION"):
        collation = cursor.name("a collation")
        if collation.upper != "UTF8_BINARY":
            cure = (
                f"say x COLLATE {collation.text} where texts are compared, or declare columns of a table so"
            )
            cursor.fail(f"not supported yet: DEFAULT COLLATION {collation.text} of a view; {cure}", collation)
        return first
    for words, why in _IGNORED.items():
        if cursor.accept(*words):
            _rest(cursor, words)
            cursor.ignore(" ".join(words), why, first)
            return first
    return None


def _rest(cursor: Cursor, words: tuple[str, ...]) -> None:
    """What belongs to the clause of these words, which are read."""
    if words == ("WITH", "SCHEMA"):
        while cursor.next.upper in _SCHEMA_MODES:
            cursor.take()
    elif words == ("SCHEDULE",):
        while cursor.next.kind != "end" and cursor.next.upper not in ("AS", "COMMENT", "TBLPROPERTIES"):
            cursor.take()
    elif words == ("REFERENCES",):
        cursor.relation("a table's name")
        if cursor.next.text == "(":
            cursor.parentheses()
    elif words == ("FOREIGN", "KEY") and cursor.accept("REFERENCES"):  # of a column
        _rest(cursor, ("REFERENCES",))
    elif cursor.next.text != "(":
        cursor.take()  # CLUSTER BY AUTO, NONE
    else:
        cursor.parentheses()
        _behind_columns(cursor, words[0])


def _behind_columns(cursor: Cursor, word: str) -> None:
    """What stands behind the columns of the clause that begins with the word."""
    if word == "SKEWED":
        cursor.expect("ON")
        cursor.parentheses()
        cursor.accept("STORED", "AS", "DIRECTORIES")
    elif word == "CLUSTERED":
        if cursor.accept("SORTED", "BY"):
            cursor.parentheses()
        cursor.expect("INTO")
        cursor.take()
        cursor.expect("BUCKETS")
    elif word == "FOREIGN":
        cursor.expect("REFERENCES")
        _rest(cursor, ("REFERENCES",))
        enforced(cursor)


def enforced(cursor: Cursor) -> None:
    """What may follow a key: it is checked, or nobody's business, whatever is said."""
    words = ("NOT", "ENFORCED", "RELY", "NORELY", "DEFERRABLE", "INITIALLY", "DEFERRED", "TIMESERIES")
    while cursor.next.upper in words and not cursor.sees("NOT", "NULL"):
        cursor.take()
