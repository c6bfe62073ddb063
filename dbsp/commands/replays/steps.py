"""What a replay file says, however it is written: steps, and in each the changes of tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.sql.plans.program import Program, Table


@dataclass(frozen=True, slots=True)
class Change:
    """row: a dict by column, or a tuple by position. where: `file:line`. by_key: only the key counts."""

    row: Any
    weight: int
    by_key: bool
    where: str


@dataclass
class StepOfFile:
    """What one step applies: per table its changes in order, and the step's clock."""

    changes: dict[str, list[Change]] = field(default_factory=dict)
    clock: datetime | None = None


def find_table(name: object, program: Program, where: str) -> Table:
    """Raises DataError, which says what tables there are."""
    try:
        return program.input(name)
    except ProgramError as error:
        raise DataError(f"{where}: {error}") from None
