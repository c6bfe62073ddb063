"""What Databricks' pipelines say in SQL, and Spark's grammar doesn't know: OR REFRESH, and expectations.

    CREATE OR REFRESH STREAMING TABLE s (a INT, CONSTRAINT c EXPECT (a > 0) ON VIOLATION DROP ROW) AS …
    CREATE            STREAMING TABLE s (a INT                                                   ) AS …

Spark reads the text without, in which all that stays has its place. What an expectation says is the program's
to keep (`sql/text/expectations.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import Clause, Dataset, Place
from dbsp.sql.text.expectations import Expectation, expectation
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.tokens import Cursor, Token, tokens

_KINDS = (("MATERIALIZED", "VIEW"), ("STREAMING", "TABLE"), ("TEMPORARY", "VIEW"))
_NAMES = ("word", "quoted")


@dataclass(frozen=True)
class Read:
    """text: as Spark takes it. expectations: by where the statement begins that has them, as written."""

    text: str
    expectations: Mapping[int, tuple[Clause, ...]]

    def within(self, start: int, stop: int) -> tuple[Clause, ...]:
        """The expectations of the statement that lies there."""
        return next((found for at, found in self.expectations.items() if start <= at < stop), ())


def read_text(text: str, file: str) -> Read:
    """Of a file of the project. What can't be read at all is left as it is, for Spark to say so."""
    source = as_it_is(text, file)
    try:
        cursor = Cursor(source, tokens(source))
    except ProgramError:
        return Read(text, {})
    gone: list[tuple[int, int]] = []
    found: dict[int, tuple[Clause, ...]] = {}
    before = ";"
    while cursor.next.kind != "end":
        start = cursor.next.start
        if before == ";" and cursor.accept("CREATE"):
            if cursor.sees("OR", "REFRESH"):
                gone.append((cursor.next.start, cursor.ahead(1).stop))
                cursor.at += 2
            cursor.accept("OR", "REPLACE")
            if any(cursor.accept(*kind) for kind in _KINDS):
                elements = _elements(cursor)
                gone += _gaps(elements)
                expected = tuple(_clause(source, one) for one in elements if _is_expectation(one))
                found |= {start: expected} if expected else {}
        before = cursor.take().text
    return Read(_blank(text, gone), found)


def expected(dataset: Dataset) -> list[Expectation]:
    """What a dataset's expectations ask for; those that ask for nothing but to be counted are left out."""
    return [one for _, one in _read(dataset) if not one.counts]


def counted(dataset: Dataset) -> dict[str, Clause]:
    """The conditions of those that ask for nothing but to be counted, by their names."""
    return {one.name: condition for condition, one in _read(dataset) if one.counts}


def dropped(dataset: Dataset) -> dict[str, Clause]:
    """The conditions of those whose other rows are left out, by their names."""
    return {one.name: condition for condition, one in _read(dataset) if not (one.counts or one.fails)}


def asks_for_nothing(text: str) -> bool:
    """Of an expectation as written: whether it is one that only counts, and changes no row."""
    return _expectation(as_it_is(text, "expectation")).counts


def _read(dataset: Dataset) -> Iterator[tuple[Clause, Expectation]]:
    """A dataset's expectations, with the places of their conditions."""
    for clause in dataset.expectations:
        place, source = clause.place, as_it_is(clause.text, clause.place.file)
        one = _expectation(source)
        line, column = source.position(one.condition.start)
        within = place.column - 1 if line == 1 else 0
        at = Place(place.file, place.line + line - 1, column + within)
        yield Clause(one.condition.text, at), one


def _expectation(source: Source) -> Expectation:
    cursor = Cursor(source, tokens(source))
    cursor.at += len(("CONSTRAINT", "name", "EXPECT"))
    return expectation(cursor)


def _elements(cursor: Cursor) -> list[list[Token]]:
    """After the kind of a dataset: what stands in the parentheses behind its name, between commas; and first
    and last the parentheses. [] where there are none.
    """
    cursor.accept("IF", "NOT", "EXISTS")
    while cursor.next.kind in _NAMES and cursor.ahead(1).text == ".":
        cursor.at += 2
    if cursor.next.kind not in _NAMES or cursor.ahead(1).text != "(":
        return []
    cursor.at += 1
    found, depth = [[cursor.take()], []], 1
    while cursor.next.kind != "end":
        token = cursor.next
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            return [*found, [token]]
        if depth == 1 and token.text == ",":
            found.append([])
        else:
            found[-1].append(token)
        cursor.take()
    return []


def _is_expectation(element: Sequence[Token]) -> bool:
    """CONSTRAINT name EXPECT (…); of other constraints Spark says what it thinks."""
    return len(element) > 2 and (element[0].upper, element[2].upper) == ("CONSTRAINT", "EXPECT")


def _gaps(elements: Sequence[Sequence[Token]]) -> list[tuple[int, int]]:
    """What is left out: expectations, each with a comma; the parentheses, too, where nothing is left."""
    inner = elements[1:-1]
    kept = [number for number, one in enumerate(inner) if not _is_expectation(one)]
    if not kept and inner:
        return [(elements[0][0].start, elements[-1][0].stop)]
    return [
        (one[0].start, inner[number + 1][0].start)
        if number < kept[0]
        else (inner[number - 1][-1].stop, one[-1].stop)
        for number, one in enumerate(inner)
        if _is_expectation(one)
    ]


def _clause(source: Source, element: Sequence[Token]) -> Clause:
    first, last = element[0], element[-1]
    return Clause(source.text[first.start : last.stop], Place(source.name, *source.position(first.start)))


def _blank(text: str, gone: Sequence[tuple[int, int]]) -> str:
    """With spaces there; lines stay lines."""
    for start, stop in gone:
        text = text[:start] + "".join(c if c == "\n" else " " for c in text[start:stop]) + text[stop:]
    return text
