"""What a table's log says of it: the rows that came since a version, and those that went."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from dbsp.circuits.errors import StateError
from dbsp.declared.project.surroundings import Arrived, Files

_MARK = "log:"
# what may be done where changes are lost, and of tables that aren't streamed
_ADVICE = "--full-refresh-all computes all anew, of what it holds now"
_COMPARED = (
    "; --fallback full, or refresh_policy = incremental of all that reads it, compares all of its rows with "
    "those that were read"
)


class Rows(ABC):
    """Of files of a table. pieces: each of a file. schema: of the rows that are wanted."""

    pieces: tuple[Any, ...]
    schema: pa.Schema

    @property
    @abstractmethod
    def size(self) -> int:
        """In bytes, as they are stored."""

    @abstractmethod
    def read(self, piece: Any) -> Iterator[pa.Table]:
        """Those of one piece, some at a time."""

    def table(self) -> pa.Table:
        """All of them."""
        parts = [part for piece in self.pieces for part in self.read(piece)]
        return pa.concat_tables(parts) if parts else self.schema.empty_table()


@dataclass(frozen=True)
class Changed:
    """now: the version, as it is known the next time. whole: whether `added` is all that the table holds.

    gone: rows that it had. altered: whether it may have got other columns since. gone_by: what took rows out
    last, in words.
    """

    now: Files
    added: Rows
    gone: Rows
    whole: bool = False
    altered: bool = False
    gone_by: str = ""

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


class Log(ABC):
    """Of a table, which says what each version of it has. name: the table's, as people write it."""

    name: str

    @abstractmethod
    def schema(self) -> str:
        """Of its last version, as Spark spells a schema in JSON. Raises Error."""

    @abstractmethod
    def whole(self, schema: pa.Schema) -> Changed:
        """All that its last version holds. Raises Error."""

    @abstractmethod
    def since(self, schema: pa.Schema, known: Files | None, streamed: bool) -> Changed:
        """What its log says of later versions. Raises Lost where that can't be known, Error."""

    def look(
        self, schema: pa.Schema, streamed: bool, known: Files | None, compared: bool, twice: bool = False
    ) -> Changed:
        """schema: of the rows that are wanted. known: of the last look; empty: there was none.

        streamed: whether the table may only grow; twice: or may for others that read it. compared: whether
        all of it may be read where its changes can't be. Raises Error, StateError where they can't be.
        """
        if known == {}:
            return self.whole(schema)
        try:
            changed = self.since(schema, known, streamed)
        except Lost as error:
            if compared and not streamed:
                return self.whole(schema)
            less = "" if streamed or twice else _COMPARED
            what = f"what has changed can't be read: {error}; {_ADVICE}{less}"
            raise StateError(f"table {self.name}: {what}") from None
        if streamed and changed.gone.pieces:
            raise StateError(
                f"table {self.name}: rows of it were changed or deleted {changed.gone_by}, which STREAM "
                f"doesn't read; read it without STREAM, or {_ADVICE}"
            )
        return changed


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
