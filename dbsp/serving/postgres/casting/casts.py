"""PostgreSQL's casts, said for Spark: what a constant means as a value of its type, and types of other names.

'\\x00ff'::bytea          X'00ff'                          x::varchar(3)      left(CAST(x AS STRING), 3)
1.50::numeric            1.50BD                           x::char(3)         rpad(CAST(x AS STRING), 3, ' ')
x::double precision      x::DOUBLE                        timestamptz '...'  CAST('...' AS TIMESTAMP)

`numeric` without a precision holds any digits in PostgreSQL. Here it is what loses none: a constant's own
digits, a DECIMAL column's own type, DECIMAL(20, 0) and less for integers, and DECIMAL(38, 18) for all else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbsp.serving.postgres.casting.operands import CONSTANTS, Columns, operand_start
from dbsp.serving.postgres.language.inference import columns_beside
from dbsp.serving.postgres.language.literals import constants
from dbsp.serving.postgres.language.literals.intervals import interval
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import Word, literal
from dbsp.serving.postgres.language.type_names import FIRST, OF_SPARK, Named, type_at
from dbsp.serving.postgres.language.types import (
    BPCHAR,
    BYTEA,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    NUMERIC,
    OID,
    TIME,
    UUID,
    VARCHAR,
)
from dbsp.sql.plans.schemas import Schema

_TEXTS = frozenset({"string", "escaped", "dollars"})
_NUMBERS = (INT2, INT4, INT8, OID, FLOAT4, FLOAT8, NUMERIC)
# what holds most values of which it isn't known what they are
_WIDEST = "DECIMAL(38, 18)"
_READ = {
    BYTEA: constants.bytea,
    NUMERIC: constants.numeric,
    UUID: constants.uuid,
    TIME: constants.time,
    INTERVAL: interval,
}
# what NULL is of these
_MEANT = {
    BYTEA: "BINARY",
    NUMERIC: _WIDEST,
    UUID: "STRING",
    TIME: "TIME",
    INTERVAL: "INTERVAL DAY TO SECOND",
}


def with_casts(
    words: Sequence[Word], values: Sequence[Value], relations: Mapping[str, Schema]
) -> Sequence[Word]:
    """The same words, with what Spark is told of their casts. relations: by name, with their columns.

    Raises Error.
    """
    at = [
        i for i, word in enumerate(words) if word.kind == "cast" or word.upper == "CAST" or word.name in FIRST
    ]
    if at:
        words = _Casts(words, values, Columns(words, relations)).all(at)
    return _with_bytes(words, relations)


def _with_bytes(words: Sequence[Word], relations: Mapping[str, Schema]) -> Sequence[Word]:
    """Texts beside a column of BINARY are bytea without a cast, too; it matters of those with a backslash."""
    if not any(word.kind in _TEXTS and "\\" in word.text for word in words):
        return words
    beside = columns_beside(words, relations, _TEXTS)
    return [
        replace(word, spark=constants.bytea(word.string))
        if beside.get(i) == BYTEA and word.spark is None
        else word
        for i, word in enumerate(words)
    ]


class _Casts:
    def __init__(self, words: Sequence[Word], values: Sequence[Value], columns: Columns) -> None:
        self._words, self._values, self._columns = list(words), values, columns
        # of each `::`, by where its type ends, where its operand begins
        self._ends: dict[int, int] = {}

    def all(self, at: Sequence[int]) -> Sequence[Word]:
        """at: where they may be."""
        for i in at:
            if self._words[i].kind == "cast":
                self._after(i)
            elif self._words[i].upper == "CAST":
                self._call(i)
            else:
                self._before_text(i)
        return self._words

    def _after(self, at: int) -> None:
        """x::type"""
        start = operand_start(self._words, at - 1, self._ends) if at else 0
        named = type_at(self._words, at + 1)
        self._ends[at + 1 if named is None else named.end - 1] = start
        if named is None:
            return
        named.check(self._words, at + 1)
        meant = self._constant(start, at, named)
        if meant is not None:
            self._say(start, at, meant)
            self._say(at, named.end, "")
        elif named.size and named.oid in (VARCHAR, BPCHAR):
            head, tail = _cut(named)
            word = self._words[start]
            self._words[start] = replace(word, ahead=f"{head}{word.ahead}")
            self._say(at, named.end, tail)
        else:
            self._say(at + 1, named.end, self._spark(named, start, at))

    def _call(self, at: int) -> None:
        """CAST(x AS type)"""
        as_, close = _within(self._words, at + 1)
        named = type_at(self._words, as_ + 1) if as_ else None
        if named is None or named.end != close:
            return
        named.check(self._words, as_ + 1)
        meant = self._constant(at + 2, as_, named)
        if meant is not None:
            self._say(at, at + 1, "")
            self._say(at + 2, as_, meant)
            self._say(as_, close, "")
        elif named.size and named.oid in (VARCHAR, BPCHAR):
            head, tail = _cut(named)
            self._say(at, at + 1, head.removesuffix("("))
            self._say(as_, close, "")
            self._say(close, close + 1, tail)
        else:
            self._say(as_ + 1, close, self._spark(named, at + 2, as_))

    def _before_text(self, at: int) -> None:
        """type 'text'"""
        if at and (self._words[at - 1].kind == "cast" or self._words[at - 1].text == "."):
            return
        named = type_at(self._words, at)
        if named is None or named.end >= len(self._words):
            return
        text = self._words[named.end]
        if text.kind not in _TEXTS or text.spark is not None:
            return
        is_sparks = named.end == at + 1 and self._words[at].name in OF_SPARK
        if is_sparks and (named.oid != INTERVAL or self._is_counted(named.end + 1)):
            return
        named.check(self._words, at)
        meant = self._constant(named.end, named.end + 1, named)
        self._say(at, named.end, "")
        cast = f"CAST({literal(text.string)} AS {named.spark})" if meant is None else meant
        self._say(named.end, named.end + 1, cast)

    def _is_counted(self, at: int) -> bool:
        """Whether an interval's unit follows: INTERVAL '1' DAY."""
        after = self._words[at].upper.removesuffix("S") if at < len(self._words) else ""
        return after in (
            "YEAR",
            "MONTH",
            "WEEK",
            "DAY",
            "HOUR",
            "MINUTE",
            "SECOND",
            "MILLISECOND",
            "MICROSECOND",
            "NANOSECOND",
        )

    def _constant(self, start: int, end: int, named: Named) -> str | None:
        """What a constant means as a value of the type; None: Spark casts it."""
        read = _READ.get(named.oid)
        while end > start + 2 and self._words[start].text == "(" and self._words[end - 1].text == ")":
            start, end = start + 1, end - 1
        is_signed = end == start + 2 and self._words[start].text in ("-", "+")
        sign = self._words[start].text if is_signed and self._words[start + 1].kind == "number" else ""
        start += len(sign)
        word = self._words[start]
        if read is None or end != start + 1 or word.kind not in CONSTANTS or word.spark is not None:
            return None
        text: str | None = word.string if word.kind not in ("number", "parameter") else word.text
        if word.kind == "parameter":
            number = int(word.text[1:])
            if number > len(self._values) or not _says(self._values[number - 1], named):
                return None
            text = self._values[number - 1].text
        if text is None:
            meant = f"CAST(NULL AS {_MEANT[named.oid]})"
        elif named.oid == BYTEA and word.kind == "number":
            return None
        else:
            meant = read(sign + text)
        return f"CAST({meant} AS {named.spark})" if named.size else meant

    def _spark(self, named: Named, start: int, end: int) -> str:
        """The type for an operand."""
        if named.oid != NUMERIC or named.size:
            return named.spark
        digits = self._columns.decimal_of(self._words[start:end])
        return _WIDEST if digits is None else f"DECIMAL({digits[0]}, {digits[1]})"

    def _say(self, start: int, end: int, spark: str) -> None:
        """Of the words from `start` on, the first one says it, and the others nothing."""
        for i in range(start, end):
            self._words[i] = replace(self._words[i], spark=spark if i == start else "")


def _cut(named: Named) -> tuple[str, str]:
    """What stands around a value that becomes a text of so many characters."""
    size = named.size[0]
    if named.oid == VARCHAR:
        return "left(CAST(", f" AS STRING), {size})"
    return "rpad(CAST(", f" AS STRING), {size}, ' ')"


def _within(words: Sequence[Word], opened: int) -> tuple[int, int]:
    """Of CAST's parentheses: (where AS is, where they are closed); 0: nowhere."""
    depth, found = 0, 0
    for i in range(opened, len(words)):
        word = words[i]
        if word.kind == "symbol":
            depth += (word.text == "(") - (word.text == ")")
        if depth == 0:
            return found, i
        if depth == 1 and word.upper == "AS":
            found = i
    return 0, 0


def _says(value: Value, named: Named) -> bool:
    """Whether the text of a parameter is one of the type."""
    return (
        value.text is None
        or value.is_text
        or value.oid == named.oid
        or (named.oid == NUMERIC and value.oid in _NUMBERS)
    )
