"""What a cast is of: the words before `::`, or within CAST(... AS ...), and the type of a column there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.types as pt

from dbsp.serving.postgres.language.spelling import Word
from dbsp.sql.plans.expressions.safe import INTEGER_DIGITS
from dbsp.sql.plans.schemas import Schema

CONSTANTS = frozenset({"string", "escaped", "dollars", "number", "parameter"})
# words after which a parenthesis begins an expression, and no arguments
_KEYWORDS = frozenset(
    {
        *(
            "SELECT",
            "DISTINCT",
            "ALL",
            "FROM",
            "JOIN",
            "USING",
            "ON",
            "WHERE",
            "GROUP",
            "ORDER",
            "BY",
            "HAVING",
        ),
        *("LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "WITH", "VALUES", "SET", "RETURNING", "AS"),
        *("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "CASE", "WHEN", "THEN"),
        *("ELSE", "END"),
    }
)
_AFTER_CALL = frozenset({"OVER", "FILTER"})
_OPENING = {")": "(", "]": "["}


def operand_start(words: Sequence[Word], last: int, casts: Mapping[int, int]) -> int:
    """Where the operand of a `::` begins whose last word is at `last`. casts: of those before it, by where
    their types end, where they begin.
    """
    at = last
    while at > 0:
        word = words[at]
        if at in casts:
            return casts[at]
        if word.kind == "symbol" and word.text in _OPENING:
            at = _opened(words, at)
            before = words[at - 1] if at else Word("end", "")
            if word.text == "]":
                at -= 1  # of what it is an element
                continue
            if before.upper in _AFTER_CALL:
                at -= 2
                continue
            if before.kind in ("word", "quoted") and before.upper not in _KEYWORDS:
                at -= 1
                continue
            return max(at, 0)
        if word.upper == "END":
            at = _case(words, at)
        while at > 1 and words[at - 1].text == "." and words[at - 2].name is not None:
            at -= 2
        return at
    return max(at, 0)


def _opened(words: Sequence[Word], closed: int) -> int:
    """Where the parenthesis or bracket was opened."""
    depth, mark = 0, words[closed].text
    for at in range(closed, -1, -1):
        if words[at].kind == "symbol":
            depth += (words[at].text == mark) - (words[at].text == _OPENING[mark])
        if depth == 0:
            return at
    return 0


def _case(words: Sequence[Word], end: int) -> int:
    depth = 0
    for at in range(end, -1, -1):
        depth += (words[at].upper == "END") - (words[at].upper == "CASE")
        if depth == 0:
            return at
    return end


class Columns:
    """The columns that the names of a statement may mean."""

    def __init__(self, words: Sequence[Word], relations: Mapping[str, Schema]) -> None:
        names = {word.name for word in words}
        self._types: dict[str, set[pa.DataType]] = {}
        for relation, schema in relations.items():
            if relation.lower() in names:
                for column in schema:
                    self._types.setdefault(column.name.lower(), set()).add(column.type)
        for before, word in pairwise(words):
            if word.name in self._types and _names(before):  # another column has this name here
                del self._types[word.name]

    def type_of(self, words: Sequence[Word]) -> pa.DataType | None:
        """The type of `column` or `table.column`; None: it isn't known."""
        is_qualified = len(words) == 3 and words[1].text == "." and words[0].name is not None
        if len(words) != 1 and not is_qualified:
            return None
        types = self._types.get(words[-1].name or "", set())
        return next(iter(types)) if len(types) == 1 else None

    def decimal_of(self, words: Sequence[Word]) -> tuple[int, int] | None:
        """(precision, scale) of a DECIMAL that holds each value of a column, or of an aggregate of it, as it
        is; None: it isn't known.
        """
        call = words[0].name if len(words) > 2 and words[1].text == "(" and words[-1].text == ")" else None
        if call == "count" and all(word.text != ")" for word in words[2:-1]):
            return INTEGER_DIGITS[64], 0
        inner = words[2:-1] if call in ("sum", "min", "max") else words
        if call is not None and inner and inner[0].upper == "DISTINCT":
            inner = inner[1:]
        type_ = self.type_of(inner)
        if type_ is None:
            return None
        if pt.is_integer(type_):
            return INTEGER_DIGITS[64 if call == "sum" else type_.bit_width], 0
        if not pt.is_decimal(type_):
            return None
        return (min(type_.precision + 10, 38) if call == "sum" else type_.precision), type_.scale


def _names(before: Word) -> bool:
    """Whether what comes after this word is a name for it: `x AS name`, `x name`, `f(x) name`."""
    if before.upper == "AS" or before.kind in ("quoted", *CONSTANTS) or before.text in (")", "]"):
        return True
    return before.kind == "word" and before.upper not in _KEYWORDS
