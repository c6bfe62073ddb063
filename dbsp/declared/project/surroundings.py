"""What a refresh asks of what is around it: sources, and the tables of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from dbsp.declared.project.datasets import Dataset, Project, Table

# Of each file its size and the time of its last change, as its file system says them; of a table with a log
# the last entry of that, as the log's reader says it.
Files = Mapping[str, list[int]]


@dataclass(frozen=True)
class Arrived:
    """What a table has to say. how: 'unchanged', 'appended', 'changed' or 'compared'. rows: the new ones, or
    all of them, as `Pipeline.insert` takes them. gone: those that it has no more, where it is 'changed'.

    files: as they are now; None of a table that isn't of files. lost: whether one that was read is another,
    or gone.
    """

    how: str
    files: Files | None
    rows: Callable[[], object] | None = None
    lost: bool = False
    gone: Callable[[], object] | None = None


@dataclass(frozen=True)
class News:
    """Of a table of files what isn't read. files, lost: see `Arrived`. whole: whether all is compared."""

    files: Files
    new: list[str]
    whole: bool
    lost: bool

    def arrived(self, read: Callable[[list[str]], object]) -> Arrived:
        """read: the rows of files."""
        if self.whole:
            return Arrived("compared", self.files, lambda: read(self.new), self.lost)
        if not self.new:
            return Arrived("unchanged", self.files, lost=self.lost)
        return Arrived("appended", self.files, lambda: read(self.new), self.lost)


class Surroundings(Protocol):
    """Spark's session and its catalogue, or what is known of them. Each raises Error."""

    def look(self, table: Table, schema: pa.Schema, known: Files | None, compared: bool) -> Arrived:
        """known: the files that the state has the rows of; None: its rows are of no files.

        schema: of the table's rows. compared: whether a table is to be compared whose changes are lost.
        """

    def directory(self, dataset: Dataset, ours: bool) -> Path:
        """Of a table's files; it is made if it isn't there. ours: whether a step has written it."""

    def written(self, dataset: Dataset, repaired: bool) -> None:
        """Let readers see a table's files. repaired: whether directories came or went."""

    def send(self, sink: Dataset, rows: Path) -> None:
        """Hand on the rows of files in that directory, each file once, whatever ends a try. It has files."""

    def recompute(self, project: Project, dataset: Dataset) -> tuple[object, int]:
        """The rows of what can't be maintained, and how many of them are written to its table."""


def news(files: Files, streamed: bool, known: Files | None) -> News:
    """files: that a table has now. Of what is streamed each file is read once, whatever becomes of it."""
    before = known or {}
    new = [file for file in files if file not in before]
    lost = any(files.get(file) != seen for file, seen in before.items())
    if streamed:
        return News({**files, **before}, new, False, lost)
    whole = known is None or lost
    return News(files, list(files) if whole else new, whole, lost)
