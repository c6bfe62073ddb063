"""Cursors: DECLARE, FETCH, MOVE and CLOSE, over rows that are there as soon as a cursor is declared.

Source: PostgreSQL 17 documentation, pages DECLARE, FETCH and CLOSE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.serving.postgres.answers import Command, Rows
from dbsp.serving.postgres.language.spelling import Cursor as Words
from dbsp.serving.postgres.language.spelling import Word
from dbsp.serving.postgres.language.wrong import Wrong

# of a connection
_MOST = 200
_KINDS = frozenset({"BINARY", "INSENSITIVE", "ASENSITIVE", "NO", "SCROLL"})
_FETCH = "FETCH [NEXT | PRIOR | FIRST | LAST | ABSOLUTE n | RELATIVE n | n | ALL | FORWARD n | BACKWARD n]"


@dataclass
class Cursor:
    """at: the row that it is on, from 1; 0 before the first, one more than there are behind the last. holds:
    it outlives its transaction; is_new: that one hasn't ended.
    """

    rows: pa.RecordBatch
    holds: bool
    is_new: bool
    at: int = 0

    def forward(self, count: int) -> list[int]:
        """The rows that come next, from 0; of a number below 0 those before, the nearest first."""
        if count == 0:
            return self.on(self.at)
        end, begun = self.rows.num_rows + 1, self.at
        self.at = min(max(begun + count, 0), end)
        if count > 0:
            return list(range(begun, min(self.at, end - 1)))
        return list(range(begun - 2, max(self.at, 1) - 2, -1))

    def on(self, place: int) -> list[int]:
        """Go to a row; of a number below 0 it is counted from the end."""
        end = self.rows.num_rows + 1
        self.at = min(max(place if place >= 0 else end + place, 0), end)
        return [self.at - 1] if 0 < self.at < end else []


@dataclass
class Declared:
    """name: of the cursor. query: of which it has the rows."""

    name: str
    holds: bool
    query: Sequence[Word]


def declared(words: Sequence[Word]) -> Declared:
    """DECLARE name [NO SCROLL ...] CURSOR [WITH HOLD] FOR query. Raises Wrong."""
    said = Words(words[1:])
    name = said.name()
    while said.next.upper in _KINDS:
        said = Words(said.rest[1:])
    is_one = said.takes("CURSOR")
    holds = said.takes("WITH", "HOLD")
    said.takes("WITHOUT", "HOLD")
    if name is None or not is_one or not said.takes("FOR") or said.is_over:
        raise Wrong("42601", "DECLARE name CURSOR [WITH HOLD] FOR query")
    return Declared(name, holds, said.rest)


@dataclass
class Cursors:
    """Of one connection, by name."""

    there: dict[str, Cursor] = field(default_factory=dict)

    def check(self, one: Declared, transaction: str) -> None:
        """Whether it can be declared. Raises Wrong."""
        if transaction != "T" and not one.holds:
            raise Wrong("25P01", f"DECLARE {one.name}: BEGIN a transaction before, or declare it WITH HOLD")
        if one.name in self.there:
            raise Wrong("42P03", f"the cursor '{one.name}' is there already; CLOSE it")
        if len(self.there) >= _MOST:
            raise Wrong("53400", f"{_MOST} cursors are open; close some")

    def add(self, one: Declared, rows: pa.RecordBatch, transaction: str) -> Command:
        self.there[one.name] = Cursor(rows, one.holds, transaction == "T")
        return Command("DECLARE CURSOR")

    def fetched(self, words: Sequence[Word]) -> Rows | Command:
        """FETCH and MOVE. Raises Wrong."""
        cursor, direction = self._asked(words)
        places = _moved(cursor, [word.upper for word in direction])
        verb = words[0].upper
        if verb == "MOVE":
            return Command(f"MOVE {len(places)}")
        if not places or places[-1] - places[0] == len(places) - 1:
            rows = cursor.rows.slice(places[0] if places else 0, len(places))
        else:
            rows = cursor.rows.take(pa.array(places, pa.int64()))
        return Rows(rows, tag="FETCH {}")

    def schema(self, words: Sequence[Word]) -> pa.Schema:
        """The columns of what FETCH will give. Raises Wrong."""
        return self._asked(words)[0].rows.schema

    def close(self, words: Sequence[Word]) -> Command:
        """CLOSE name | ALL. Raises Wrong."""
        if words[-1].upper == "ALL":
            self.there.clear()
            return Command("CLOSE CURSOR ALL")
        self._of(words[-1].name)
        del self.there[words[-1].name or ""]
        return Command("CLOSE CURSOR")

    def end(self, committed: bool) -> None:
        """A transaction ends, and with it those that don't outlive it."""
        self.there = {
            name: one for name, one in self.there.items() if not one.is_new or (one.holds and committed)
        }
        for one in self.there.values():
            one.is_new = False

    def _asked(self, words: Sequence[Word]) -> tuple[Cursor, Sequence[Word]]:
        """FETCH [direction] [FROM | IN] name: the cursor, and the direction."""
        direction = words[1:-1]
        if direction and direction[-1].upper in ("FROM", "IN"):
            direction = direction[:-1]
        return self._of(words[-1].name if len(words) > 1 else None), direction

    def _of(self, name: str | None) -> Cursor:
        found = self.there.get(name or "")
        if found is None:
            listed = ", ".join(self.there) or "none"
            raise Wrong("34000", f"no cursor '{name or ''}'; cursors: {listed}")
        return found


def _moved(cursor: Cursor, said: list[str]) -> list[int]:
    """Where it goes, and the rows on the way. said: the direction."""
    every = cursor.rows.num_rows + 1
    match said:
        case [] | ["NEXT"] | ["FORWARD"]:
            return cursor.forward(1)
        case ["PRIOR"] | ["BACKWARD"]:
            return cursor.forward(-1)
        case ["ALL"] | ["FORWARD", "ALL"]:
            return cursor.forward(every)
        case ["BACKWARD", "ALL"]:
            return cursor.forward(-every)
        case ["FIRST"]:
            return cursor.on(1)
        case ["LAST"]:
            return cursor.on(-1)
        case ["ABSOLUTE", *number]:
            return cursor.on(_number(number))
        case ["RELATIVE", *number]:
            return cursor.on(max(cursor.at + _number(number), 0))
        case ["BACKWARD", *number]:
            return cursor.forward(-_number(number))
        case ["FORWARD", *number] | number:
            return cursor.forward(_number(number))


def _number(said: list[str]) -> int:
    text = "".join(said)
    if not text.lstrip("+-").isdecimal() or len(text) > 18:
        raise Wrong("42601", f"{_FETCH} FROM cursor")
    return int(text)
