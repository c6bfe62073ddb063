"""What a table's log says of it: the rows that came since a version, and those that went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from dbsp.declared.project.surroundings import Arrived, Files

_MARK = "log:"
# what may be done where changes are lost, and of tables that aren't streamed
ADVICE = "--full-refresh-all computes all anew, of what it holds now"
COMPARED = "; --fallback full compares all of its rows with those that were read"


class Rows(Protocol):
    """Of files of a table."""

    @property
    def pieces(self) -> Sequence[Any]:
        """Each of a file."""

    @property
    def size(self) -> int:
        """In bytes, as they are stored."""

    def table(self) -> pa.Table:
        """All of them."""

    def read(self, piece: Any) -> pa.Table:
        """Those of one piece."""


@dataclass(frozen=True)
class Changed:
    """now: the version, as it is known the next time. whole: whether `added` is all that the table holds.

    gone: rows that it had. altered: whether it may have got other columns since.
    """

    now: Files
    added: Rows
    gone: Rows
    whole: bool = False
    altered: bool = False

    @property
    def size(self) -> int:
        """Of what is to be read, in bytes as they are stored."""
        return self.added.size + self.gone.size

    def arrived(self, known: Files | None, read: Callable[[Rows], object]) -> Arrived:
        """known: as it was given to `look`. read: the rows of pieces."""
        rows = partial(read, self.added)
        if self.whole:  # of nothing that was read all is new
            return Arrived("appended" if known == {} else "compared", self.now, rows)
        gone = partial(read, self.gone) if self.gone.pieces else None
        if not self.added.pieces and gone is None:
            return Arrived("unchanged", self.now)
        return Arrived("appended" if gone is None else "changed", self.now, rows, gone=gone)


class Log(Protocol):
    """A table whose log says what each version of it has."""

    def schema(self) -> str:
        """Of its last version, as Spark spells a schema in JSON. Raises Error."""

    def look(self, schema: pa.Schema, streamed: bool, known: Files | None, compared: bool) -> Changed:
        """schema: of the rows that are wanted. known: of the last look; empty or None: there was none.

        streamed: whether the table may only grow. compared: whether all of it may be read where its changes
        can't be. Raises Error, StateError where they can't be.
        """


class Lost(Exception):
    """What has changed can't be known."""


def as_known(identity: str, version: object, seen: list[int]) -> Files:
    """seen: what the log's reader compares the next time."""
    return {f"{_MARK}{identity}/{version}": seen}


def is_of_log(known: Files | None) -> bool:
    """Whether it is what `as_known` gives."""
    return known is not None and len(known) == 1 and next(iter(known)).startswith(_MARK)


def from_known(known: Files | None) -> tuple[str, str, list[int]]:
    """The inverse of `as_known`. Raises Lost for what a table was that had no log."""
    if known is None or not is_of_log(known):
        raise Lost("its rows so far are of no log")
    ((last, seen),) = known.items()
    identity, _, version = last.removeprefix(_MARK).rpartition("/")
    return identity, version, seen
