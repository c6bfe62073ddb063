"""A project as it was read and compiled: what the next run needs no Spark for, while nothing of it changes.

    key      the texts and the settings               the same: the same project, the same program
    witness  the catalogue's digest                   the same: the same tables, at the same places
    sources  directories of Parquet files, Delta      listed and read where they are

It lies with the compiled programs, where only this user can have written it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from dbsp.declared.project.datasets import Dataset, Project, Table, shown
from dbsp.declared.project.program import Compiled, view_name
from dbsp.declared.project.surroundings import Arrived, Files, Surroundings
from dbsp.declared.remembered.catalogue import Catalogue
from dbsp.declared.remembered.source import Source, Unknown
from dbsp.sql.compiler.cache import read_entry, write_entry
from dbsp.sql.text.source import Source as Text

# Bytes of new files beyond which Spark's tasks, on all cores, save more than its start costs.
LARGE = 1 << 26


@dataclass(frozen=True)
class Remembered:
    """project: without plans of a JVM. sources: by the tables' names. places: of datasets, by theirs."""

    project: Project
    compiled: Compiled
    catalogue: Catalogue
    witness: str
    sources: Mapping[str, Source]
    places: Mapping[str, Path]

    def is_there(self) -> bool:
        """Whether its sources can still be listed, and have the columns that they had."""
        try:
            for source in self.sources.values():
                source.check_there()
        except Unknown:
            return False
        return True


def remember(key: Text, found: Remembered) -> None:
    """For `recall`."""
    write_entry(found, key, "")


def recall(key: Text) -> Remembered | None:
    """None where nothing is known that is still true."""
    found = read_entry(key, "")
    if not isinstance(found, Remembered) or found.catalogue.digest() != found.witness:
        return None
    return found


@dataclass
class Remembering:
    """What is around a refresh, as it is remembered. spark: what to ask for the rest."""

    remembered: Remembered
    spark: Callable[[], Surroundings]
    found: dict[str, Arrived] = field(default_factory=dict)

    def knows(self, known: Mapping[str, Files | None]) -> bool:
        """Whether all can be said of a state that has those files, and there isn't too much of it."""
        size = 0
        if not all(place.is_dir() for place in self.remembered.places.values()):
            return False
        try:
            for table in self.remembered.project.tables:
                source = self.remembered.sources[table.relation]
                before = known.get(view_name(table.relation), {})
                if before is None:
                    return False
                self.found[table.relation], new = source.news(table.streamed, before)
                size += new
        except Unknown:
            return False
        return size <= LARGE

    def look(self, table: Table, schema: pa.Schema, known: Files | None, compared: bool) -> Arrived:
        """See `Surroundings`; `knows` has looked."""
        return self.found[table.relation]

    def directory(self, dataset: Dataset, ours: bool) -> Path:
        """See `Surroundings`."""
        return self.remembered.places[dataset.name]

    def written(self, dataset: Dataset, repaired: bool) -> None:
        """See `Surroundings`; a session that begins later sees files as they are, but not new directories."""
        if repaired:
            self.spark().written(dataset, repaired)

    def send(self, sink: Dataset, rows: Path) -> None:
        """See `Surroundings`."""
        self.spark().send(sink, rows)

    def recompute(self, project: Project, dataset: Dataset) -> tuple[object, int]:
        """Of a project that is remembered all datasets are maintained."""
        raise AssertionError(f"{shown(dataset.name)} isn't maintained")
