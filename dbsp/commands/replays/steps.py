"""What a replay file says, however it is written: steps, and in each the changes of tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import DataError, Error, ProgramError
from dbsp.circuits.progress.waterline import Lateness
from dbsp.pipeline.deltas.advancing import waterline_at, waterline_of
from dbsp.rows.json_values import decode
from dbsp.sql.plans.program import Program, Table

if TYPE_CHECKING:
    from dbsp.dml.statement import Statement
    from dbsp.sql.text.source import Source

_IN_A_QUERY = re.compile(r"^query:\d+:\d+: ")


@dataclass(frozen=True, slots=True)
class Change:
    """row: a dict by column, or a tuple by position. where: `file:line`. by_key: only the key counts."""

    row: Any
    weight: int
    by_key: bool
    where: str


@dataclass(frozen=True, slots=True)
class Advance:
    """Where the waterline of a column moves to."""

    waterline: Lateness
    value: Any


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A statement that finds its rows in the tables as the step before has left them. source: its text."""

    statement: Statement
    source: Source

    @property
    def where(self) -> str:
        """`file:line:column` of its beginning."""
        return self.source.location(0)

    def failed(self, error: Error) -> DataError:
        """The error, at the statement; one of a query that nobody has written, at what it names."""
        from dbsp.sql.text.tokens import tokens  # noqa: PLC0415  a file of JSON lines has none

        said = _IN_A_QUERY.sub("", str(error))
        if said == str(error):
            return DataError(f"{self.where}: {said}")
        named = re.search(r"'([^']+)'", said)
        name = named[1].rsplit(".", 1)[-1].lower() if named else ""
        found = [token.start for token in tokens(self.source) if token.text.lower() == name != ""]
        return DataError(f"{self.source.location(found[0] if len(found) == 1 else 0)}: {said}")


@dataclass
class StepOfFile:
    """What one step applies: per table its changes in order, then statements; advances of waterlines, and the
    step's clock. end: where the file says that it ends, as `file:line`; empty where the file ends.
    """

    changes: dict[str, list[Change]] = field(default_factory=dict)
    statements: list[Evaluated] = field(default_factory=list)
    advances: list[Advance] = field(default_factory=list)
    clock: datetime | None = None
    end: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.statements and not self.advances


def find_waterline(relation: str, column: str, program: Program, where: str) -> Lateness:
    """Raises DataError, which says what columns have a LATENESS."""
    try:
        return waterline_of(program.circuit, relation, column)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def advance(one: Lateness, value: Any, program: Program, where: str) -> Advance:
    """Raises DataError where the value is none of the column's."""
    try:
        given = decode(value, one.type)
        waterline_at(one, given, program.timezone)
    except (DataError, ValueError) as error:
        raise DataError(f"{where}: {error}") from None
    return Advance(one, given)


def find_table(name: object, program: Program, where: str) -> Table:
    """Raises DataError, which says what tables there are."""
    try:
        return program.input(name)
    except ProgramError as error:
        raise DataError(f"{where}: {error}") from None
