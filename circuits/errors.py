"""What can be wrong, as a tree. The first line of every message says what, where, what exists, what to do.

Error
├── ProgramError     the SQL program            (file:line:column)
├── DataError        rows handed to a table     (table, column, row)
│   ├── AbsentRow         a retraction of a row that isn't there (table, row)
│   ├── SharedKey         a keyed table is to hold several rows of one key
│   ├── BrokenRule        a row breaks a CHECK of its table
│   └── EvaluationError   an expression over rows fails under ANSI rules (view, expression, row)
├── Refusal          what an evaluation may not take
│   ├── Ended             more time (or who asked has left)
│   └── TooMuch           more memory (bytes)
└── StateError       the state directory        (directory, log, fingerprint)
    ├── Overtaken         another writer has it
    ├── NotKept           a step that can't be read (step)
    └── DamagedChunk      part of a segment isn't what was written (file, offset, view)

Those of what comes after a step are in `dbsp/errors.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Self


class Error(Exception):
    """Base of everything a user's program, data or state can cause.

    Tasks send errors to the driver. Python pickles an exception as its class and `args`, which needn't be
    what the `__init__` of a subclass takes.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


class ProgramError(Error):
    """The program can't be compiled: `file:line:column: what; what exists; what to do`."""


class DataError(Error):
    """Rows that don't fit their table. Nothing of the step is kept."""

    def within(self, place: str) -> Self:
        """The same error, its message beginning with where it happened."""
        self.args = (f"{place}: {self.args[0]}",)
        return self


class AbsentRow(DataError):
    """A bag would have a row less than zero times. row: as `described` in the message."""

    def __init__(self, table: str, row: str, message: str) -> None:
        super().__init__(message)
        self.table, self.row = table, row


class SharedKey(DataError):
    """Rows that are to be all that a keyed table holds aren't one a key."""


class BrokenRule(DataError):
    """A row breaks a CHECK of its table."""


class EvaluationError(DataError):
    """An expression failed on a row (overflow, division by zero, bad cast).

    condition: Spark's error condition, such as 'DIVIDE_BY_ZERO'. row: a position in the evaluated batch,
    until `evaluate` has turned it into an example row. node: of the circuit; views: that its rows reach.
    """

    def __init__(self, condition: str, message: str, row: int | None = None) -> None:
        super().__init__(f"[{condition}] {message}")
        self.condition = condition
        self.row = row
        self.expression: str | None = None
        self.node: int | None = None
        self.views: tuple[str, ...] = ()

    def of_views(self, views: Sequence[str]) -> Self:
        """The same error, its message beginning with the views that want the value."""
        self.views = tuple(views)
        return self.within(named_views(views))


class Refusal(Error):
    """An evaluation may not go on."""


class Ended(Refusal):
    """Nobody waits for what is evaluated."""


class TooMuch(Refusal):
    """It takes more memory than it may."""


class StateError(Error):
    """The state directory is unreadable, damaged, foreign, or does not match the program."""


class Overtaken(StateError):
    """Another writer has the state, so that this one must not write to it any more."""


class NotKept(StateError):
    """A step that can't be read any more, or never could."""


class DamagedChunk(StateError):
    """Bytes of a segment that aren't what was written there. path: of the file. owner: whose rows."""

    def __init__(self, path: str, offset: int, problem: str, owner: str) -> None:
        of = f" of {owner}" if owner else ""
        root = os.path.dirname(os.path.dirname(path))
        super().__init__(
            f"{path}: damaged: the chunk{of} at byte {offset} {problem}; "
            f"`dbsp fsck {root}` says which steps are whole, and goes back to one"
        )
        self.path, self.offset, self.problem, self.owner = path, offset, problem, owner


def _rebuilt(kind: type[Error], args: tuple[object, ...], attributes: dict[str, object]) -> Error:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


def named_views(views: Sequence[str]) -> str:
    """Views, of which there are some, in words."""
    return ("view " if len(views) == 1 else "views ") + ", ".join(f"'{view}'" for view in views)


def did_you_mean(name: str, existing: list[str]) -> str:
    """`; did you mean 'x'?`, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415  of mistakes alone

    lower = {candidate.lower(): candidate for candidate in existing}
    near = get_close_matches(name.lower(), lower, n=1)
    return f"; did you mean '{lower[near[0]]}'?" if near else ""
