"""What a program says about how a column's values arrive: LATENESS, WATERMARK, CONSTANT DOMAIN, DEFAULT.

    column:     ts TIMESTAMP LATENESS INTERVAL 4 SECONDS [MAX JUMP INTERVAL 1 DAY]
                ts TIMESTAMP LATENESS PERCENTILE 5 OVER 1000 ROWS [EVERY 100 ROWS] [MAX JUMP ...]
                id BIGINT LATENESS 3 ROWS                          -- at most so many rows too late
                depth DOUBLE LATENESS 0.5 DECREASING [MAX JUMP 10] -- its values fall
                ts TIMESTAMP WATERMARK INTERVAL 4 SECONDS          -- a row waits for one so much later
                region STRING CONSTANT DOMAIN
                arrived TIMESTAMP DEFAULT now()
    statement:  LATENESS view.column INTERVAL 4 SECONDS [MAX JUMP ...];

The amounts are constants of Spark's, read by Catalyst; what they mean for a column is decided here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import type_name
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Literal
from dbsp.circuits.progress.percentile import Percentile
from dbsp.circuits.progress.waterline import EXACT, Amount
from dbsp.sql.plans.expressions.intervals import day_time
from dbsp.sql.plans.nodes import Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.text.extensions import refuse_special_time
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Cursor, Slice, Token

# words that begin a clause of a column, and so end its type, and a constant of the clause before
CLAUSES = {
    "NOT", "PRIMARY", "LATENESS", "WATERMARK", "CONSTANT", "COMMENT", "MAX", "DEFAULT", "GENERATED",
    "FOREIGN", "REFERENCES", "UNIQUE", "CHECK", "CONSTRAINT",
}  # fmt: skip
# what is said of a column whose values fall
DECREASING = ("DECREASING", "DESCENDING", "DESC")
_DAY = timedelta(days=1)
# what no amount at all means
_ZERO = {
    "lateness": "in order",
    "MAX JUMP": "that no row lifts the waterline",
    "WATERMARK": "that a row waits for none but itself",
}


@dataclass(frozen=True, slots=True)
class LatenessClause:
    """The amounts as the user wrote them. amount: of a percentile, what stands after LATENESS."""

    amount: Slice
    jump: Slice | None
    percentile: Percentile | None = None
    decreasing: bool = False


@dataclass(frozen=True, slots=True)
class LatenessStatement:
    """LATENESS relation.column amount: for a view's column."""

    relation: str
    column: str
    clause: LatenessClause
    start: int


def lateness_clause(cursor: Cursor) -> LatenessClause:
    """After the word LATENESS."""
    first = cursor.next
    percentile = _percentile(cursor) if cursor.accept("PERCENTILE") else None
    if percentile is None and cursor.next.kind == "number" and cursor.ahead(1).upper in ("ROW", "ROWS"):
        percentile = _of_rows(cursor)
    if percentile is None:
        amount = constant_clause(cursor, "LATENESS")
        _check_alone(cursor, first)
    else:
        amount = Slice(cursor.source.text[first.start : cursor.ahead(-1).stop], first.start)
    decreasing = any(cursor.accept(word) for word in DECREASING)
    jump = constant_clause(cursor, "MAX JUMP") if cursor.accept("MAX", "JUMP") else None
    return LatenessClause(amount, jump, percentile, decreasing)


def _of_rows(cursor: Cursor) -> Percentile:
    """k ROWS: no row comes more than k rows too late, so that none below the last k + 1 rows is to come."""
    token = cursor.take()
    if not token.text.isdigit():
        cursor.fail(f"LATENESS {token.text} ROWS: give a whole number of rows", token)
    cursor.take()
    return Percentile(Decimal(100), int(token.text) + 1)


def _check_alone(cursor: Cursor, first: Token) -> None:
    """What follows a number is no part of it, which Spark would read as its name."""
    word = next((t for t in cursor.tokens if t.start >= first.stop), first)
    if first.kind == "number" and word.kind in ("word", "quoted") and word.start < cursor.next.start:
        cursor.fail(f"'{word.text}' after LATENESS {first.text}; lateness is a constant", word)


def _percentile(cursor: Cursor) -> Percentile:
    """After the word PERCENTILE: p OVER n ROWS [EVERY k ROWS]"""
    position = cursor.next
    share = _number(cursor, "a percentile")
    if not 0 <= share <= 100:
        cursor.fail(
            f"PERCENTILE {share} is not from 0 to 100: it is the part of the rows that come after", position
        )
    cursor.expect("OVER")
    over = _rows(cursor, "OVER")
    return Percentile(share, over, _rows(cursor, "EVERY") if cursor.accept("EVERY") else 1)


def _rows(cursor: Cursor, clause: str) -> int:
    position = cursor.next
    number = _number(cursor, "a number of rows")
    if number != int(number) or number < 1:
        cursor.fail(f"{clause} {number} ROWS: give a whole number of rows, at least 1", position)
    if not cursor.accept("ROW"):
        cursor.expect("ROWS")
    return int(number)


def _number(cursor: Cursor, what: str) -> Decimal:
    position = cursor.next
    sign = "-" if cursor.accept("-") else ""
    token = cursor.take()
    try:
        return Decimal(sign + token.text if token.kind == "number" else "")
    except InvalidOperation:
        cursor.fail(f"expected {what}, found {token}", position)


def lateness_statement(cursor: Cursor) -> LatenessStatement:
    """After the word LATENESS, at the start of a statement."""
    first = cursor.name("a view's name")
    cursor.expect(".")
    parts = [first.text, cursor.name("a column's name").text]
    while cursor.accept("."):
        parts.append(cursor.name("a column's name").text)
    view = cursor.in_use.relation(parts[:-1])
    return LatenessStatement(view, parts[-1], lateness_clause(cursor), first.start)


def constant_clause(cursor: Cursor, clause: str, example: str = "INTERVAL 4 SECONDS") -> Slice:
    """What stands after the clause's word, up to the next clause or column."""
    first = last = cursor.next
    depth = 0
    while cursor.next.kind != "end":
        token = cursor.next
        if depth == 0 and (token.text in (",", ")") or token.upper in CLAUSES or token.upper in DECREASING):
            break
        depth += (token.text == "(") - (token.text == ")")
        last = cursor.take()
        refuse_special_time(cursor, last, cursor.next)
    if cursor.next is first:
        cursor.fail(f"{clause} needs a constant, as in {clause} {example}")
    return Slice(cursor.source.text[first.start : last.stop], first.start)


def not_constant(source: Source, text: Slice, what: str = "lateness") -> ProgramError:
    """The error for an amount Spark can't compute."""
    message = f"'{text.text}' is no constant of fixed length; {what} is one, as INTERVAL 4 SECONDS"
    return source.error(text.start, message)


def check_ordered(source: Source, text: Slice, column: pa.DataType) -> None:
    """Raises ProgramError for a type that has no waterline."""
    if not _can_be_late(column):
        raise source.error(text.start, _mismatch(text, column, "lateness"))


def lateness_amount(source: Source, text: Slice, relation: Plan, column: pa.DataType, what: str) -> Amount:
    """The constant in the units of the column: microseconds, days, or its own numbers.

    relation: the plan of `SELECT amount`. what: 'lateness', 'MAX JUMP' or 'WATERMARK'. Raises
    ProgramError where the amount can't be subtracted from the column, or is negative.
    """
    value = constant_value(relation)
    if value is None:
        raise not_constant(source, text, what)
    if isinstance(value, float) and not math.isfinite(value):
        raise source.error(text.start, f"{what} {text.text} is no finite number")
    amount = _in_units(value, column)
    if amount is None:
        raise source.error(text.start, _mismatch(text, column, what))
    if amount < 0:
        raise source.error(text.start, f"{what} {text.text} is negative; zero means {_ZERO[what]}")
    return amount


def constant_value(relation: Plan) -> object:
    """What `SELECT constant` gives; None where it is no constant, or NULL. relation: its plan."""
    row = relation.rows[0] if isinstance(relation, Values) else getattr(relation, "expressions", ())
    if len(row) != 1 or not isinstance(row[0], Literal) or row[0].type == MONTHS:
        return None  # months have no fixed length
    return day_time(row[0]).value


def _in_units(value: object, column: pa.DataType) -> Amount | None:
    if isinstance(value, timedelta):
        if pt.is_timestamp(column):
            return value // timedelta(microseconds=1)
        if pt.is_date(column) and value % _DAY == timedelta(0):
            return value // _DAY
        return None
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return None
    if pt.is_date(column):
        return value if isinstance(value, int) else None
    if pt.is_integer(column):
        return int(value) if value == int(value) else None
    if pt.is_decimal(column):
        amount = Decimal(str(value))
        return amount if amount == EXACT.quantize(amount, Decimal(1).scaleb(-column.scale)) else None
    return float(value) if pt.is_floating(column) else None


def _can_be_late(column: pa.DataType) -> bool:
    is_number = pt.is_integer(column) or pt.is_decimal(column) or pt.is_floating(column)
    return bool(is_number or pt.is_timestamp(column) or pt.is_date(column))


def _mismatch(text: Slice, column: pa.DataType, what: str) -> str:
    if pt.is_timestamp(column):
        return f"{what} of a timestamp is an interval of fixed length, as INTERVAL 4 SECONDS, not {text.text}"
    if pt.is_date(column):
        return f"{what} of a date is a number of days, as INTERVAL 2 DAYS, not {text.text}"
    if _can_be_late(column):
        return f"{what} of a number is a number of its type, not {text.text}"
    clause = "a WATERMARK" if what == "WATERMARK" else "LATENESS"
    return f"a column of type {type_name(column)} can't have {clause}; timestamps, dates and numbers can"
