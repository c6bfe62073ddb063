"""Columns as CREATE TABLE and CREATE RECURSIVE VIEW define them.

An IDENTITY is a DEFAULT by another name. A computed column, and a CHECK, read the row's other columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbsp.circuits.errors import did_you_mean
from dbsp.sql.text.annotations import (
    CLAUSES,
    LatenessClause,
    constant_clause,
    lateness_clause,
)
from dbsp.sql.text.stored_clauses import enforced, stored_clause
from dbsp.sql.text.tokens import Cursor, Slice, Token

# as Flink declares it, of a table
_WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND is ts TIMESTAMP LATENESS INTERVAL '5' SECOND"
_TYPE_ENDS = CLAUSES | {"MASK"}  # which is a function of constants, too


@dataclass(frozen=True, slots=True)
class CheckClause:
    """name: '' where it has none. said: as messages name it."""

    name: str
    condition: Slice

    @property
    def said(self) -> str:
        text = " ".join(self.condition.text.split())
        return f"CHECK {self.name} ({text})" if self.name else f"CHECK ({text})"


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """computed: of what, within parentheses. checks: those that stand beside it. collation: of texts whose
    type says none.
    """

    name: str
    type: Slice
    not_null: bool
    start: int
    lateness: LatenessClause | None = None
    constant_domain: bool = False
    default: Slice | None = None
    watermark: Slice | None = None
    computed: Slice | None = None
    checks: tuple[CheckClause, ...] = ()
    collation: Slice | None = None

    @property
    def is_filled(self) -> bool:
        """Whether a row has a value there that it needn't bring."""
        return self.default is not None or self.computed is not None


def column_definition(cursor: Cursor) -> tuple[ColumnDefinition, bool]:
    """name TYPE, then clauses in any order, as the error for an unknown one lists them, and COMMENT."""
    name = cursor.name("a column's name")
    _refuse_untyped(cursor, name.text)
    type_ = cursor.type(f"column '{name.text}'", _TYPE_ENDS)
    not_null = is_key = constant_domain = False
    lateness: LatenessClause | None = None
    default: Slice | None = None
    watermark: Slice | None = None
    computed: Slice | None = None
    checks: list[CheckClause] = []
    while not (cursor.sees(",") or cursor.sees(")")):
        if cursor.accept("NOT", "NULL"):
            not_null = True
        elif cursor.accept("PRIMARY", "KEY"):
            is_key = True
            enforced(cursor)
        elif cursor.sees("LATENESS"):
            if lateness is not None:
                cursor.fail(f"column '{name.text}' has a LATENESS already")
            cursor.take()
            lateness = lateness_clause(cursor)
        elif cursor.accept("CONSTANT", "DOMAIN"):
            constant_domain = True
        elif cursor.sees("DEFAULT") or cursor.sees("GENERATED"):
            if default is not None or computed is not None:
                has = "has a DEFAULT" if computed is None else "is computed"
                cursor.fail(f"column '{name.text}' {has} already")
            default, computed = _filled(cursor, name.text, type_)
        elif cursor.sees("WATERMARK"):
            if watermark is not None:
                cursor.fail(f"column '{name.text}' has a WATERMARK already")
            cursor.take()
            watermark = constant_clause(cursor, "WATERMARK")
        elif (found := check_constraint(cursor)) is not None:
            checks += found
        elif stored_clause(cursor) is None:
            form = (
                "a column is name TYPE [NOT NULL] [PRIMARY KEY] [LATENESS amount] [WATERMARK amount] "
                "[CONSTANT DOMAIN] [DEFAULT constant] [GENERATED ALWAYS AS (expression)] [CHECK (condition)]"
            )
            cursor.fail(f"column '{name.text}': unknown clause {cursor.next}; {form}")
    definition = ColumnDefinition(
        name.text,
        type_,
        not_null,
        name.start,
        lateness,
        constant_domain,
        default,
        watermark,
        computed,
        tuple(checks),
    )
    return definition, is_key


def _refuse_untyped(cursor: Cursor, name: str) -> None:
    """`name AS expression`, as other dialects define a column."""
    if not cursor.sees("AS"):
        return
    if cursor.ahead(1).upper in ("PROCTIME", "NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP"):
        cursor.fail(f"column '{name}' is when a row came: declare {name} TIMESTAMP DEFAULT now()")
    cursor.fail(
        f"column '{name}' is computed: declare its type, {name} TYPE GENERATED ALWAYS AS (expression)"
    )


def _computed(cursor: Cursor) -> Slice | None:
    """GENERATED ALWAYS AS (expression) [STORED | VIRTUAL]; None: something else stands here.

    It is kept, and the same as if it weren't.
    """
    if not cursor.sees("GENERATED", "ALWAYS", "AS", "("):
        return None
    cursor.at += 3
    computed = _within_parentheses(cursor)
    if not cursor.accept("STORED"):
        cursor.accept("VIRTUAL")
    return computed


def _filled(cursor: Cursor, name: str, type_: Slice) -> tuple[Slice | None, Slice | None]:
    """(what a row has in the column where it is given nothing, or what it always has there)"""
    if cursor.accept("DEFAULT"):
        return constant_clause(cursor, "DEFAULT", "now()"), None
    computed = _computed(cursor)
    return (None, computed) if computed is not None else (_identity(cursor, name, type_), None)


def _identity(cursor: Cursor, name: str, type_: Slice) -> Slice:
    """GENERATED ALWAYS | BY DEFAULT AS IDENTITY [(START WITH n INCREMENT BY m)], as a DEFAULT."""
    first = cursor.take()
    always = cursor.accept("ALWAYS")
    if not always:
        cursor.expect("BY")
        cursor.expect("DEFAULT")
    cursor.expect("AS")
    if not cursor.accept("IDENTITY"):
        cursor.fail(
            f"column '{name}' is GENERATED ALWAYS AS (expression), or ALWAYS or BY DEFAULT AS IDENTITY"
        )
    if type_.text.strip().upper() not in ("BIGINT", "LONG"):
        cursor.fail(f"column '{name}' is an IDENTITY, whose numbers are BIGINT; declare it so", first)
    if always:
        cursor.ignore("ALWAYS", "a row that comes with a number keeps it", first)
    bounds = {"START": 1, "INCREMENT": 1}
    if cursor.accept("("):
        while not cursor.accept(")"):
            word = cursor.take()
            if word.upper not in bounds:
                cursor.fail(f"IDENTITY has START WITH n and INCREMENT BY n, found {word}", word)
            cursor.accept("WITH" if word.upper == "START" else "BY")
            sign = -1 if cursor.accept("-") else 1
            number = cursor.take()
            if not number.text.isdecimal():
                cursor.fail(f"expected a whole number, found {number}", number)
            bounds[word.upper] = sign * int(number.text)
            cursor.accept(",")
    if bounds["INCREMENT"] == 0:
        cursor.fail("an IDENTITY that is INCREMENTed BY 0 is one number for all rows", first)
    return Slice(f"{bounds['START']} + {bounds['INCREMENT']} * monotonically_increasing_id()", first.start)


def _within_parentheses(cursor: Cursor) -> Slice:
    opened = cursor.next
    if opened.text != "(":
        cursor.fail(f"expected (, found {opened}")
    cursor.parentheses()
    return Slice(cursor.source.text[opened.stop : cursor.ahead(-1).start], opened.stop)


def check_constraint(cursor: Cursor) -> list[CheckClause] | None:
    """[CONSTRAINT name] CHECK (condition), or none of what nobody enforces; None: none stands here."""
    first = cursor.next
    if not cursor.sees("CHECK") and not (cursor.sees("CONSTRAINT") and cursor.ahead(2).upper == "CHECK"):
        return None
    name = cursor.name("a constraint's name").text if cursor.accept("CONSTRAINT") else ""
    cursor.expect("CHECK")
    condition = _within_parentheses(cursor)
    if cursor.sees("NOT", "ENFORCED"):
        enforced(cursor)
        cursor.ignore("CHECK", "what isn't enforced says nothing of rows", first)
        return []
    cursor.accept("ENFORCED")
    return [CheckClause(name, condition)]


def check_new(cursor: Cursor, column: ColumnDefinition, columns: list[ColumnDefinition], at: Token) -> None:
    """Refuse a column that has the name of another one."""
    if column.name.lower() in {other.name.lower() for other in columns}:
        cursor.fail(f"column '{column.name}' is defined twice", at)


def names(cursor: Cursor) -> tuple[str, ...]:
    """(a, b, ...)"""
    return tuple(token.text for token in name_tokens(cursor))


def name_tokens(cursor: Cursor) -> tuple[Token, ...]:
    """The same, each with its place."""
    cursor.expect("(")
    names = [cursor.name("a column's name")]
    while cursor.accept(","):
        names.append(cursor.name("a column's name"))
    cursor.expect(")")
    return tuple(names)


def watermark_for(cursor: Cursor, columns: Sequence[ColumnDefinition]) -> list[ColumnDefinition]:
    """At WATERMARK FOR: the columns so far, of which one has the LATENESS that it says."""
    first = cursor.next
    cursor.at += 2
    name = cursor.name("a column's name")
    known = {column.name.lower(): at for at, column in enumerate(columns)}
    at = known.get(name.text.lower())
    if at is None:
        names = [column.name for column in columns]
        hint = did_you_mean(name.text, names)
        cursor.fail(f"WATERMARK FOR '{name.text}': columns so far: {', '.join(names)}{hint}", name)
    if columns[at].lateness is not None:
        cursor.fail(f"column '{columns[at].name}' has a LATENESS already", first)
    cursor.expect("AS")
    value = cursor.name("the column's name")
    if value.text.lower() != name.text.lower() or not (
        cursor.sees("-") or cursor.sees(",") or cursor.sees(")")
    ):
        cursor.fail(f"WATERMARK FOR '{name.text}' is its column less a constant: {_WATERMARK}", value)
    lateness = LatenessClause(Slice("INTERVAL 0 SECONDS", value.start), None)
    if cursor.accept("-"):
        lateness = lateness_clause(cursor)
    return [replace(column, lateness=lateness) if i == at else column for i, column in enumerate(columns)]
