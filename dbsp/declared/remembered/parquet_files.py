"""A source that is a directory of Parquet files, listed and read without Spark.

    what Spark lists   the files of the directory itself whose names don't begin with '.' or '_'
    what Spark reads   the columns by their names, as the table's types

A directory with more in it than that (partitions, summary files, a stream's log), and a file whose columns
are of other types, or whose dates are of another calendar, isn't known here: `Unknown`, and Spark is asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dbsp.circuits.errors import StateError
from dbsp.declared.project.surroundings import Arrived, Files, news
from dbsp.declared.remembered.source import Unknown
from dbsp.rows.parquet.footers import fits, opened

# a name that is the same in a URI
_PLAIN = re.compile(r"[A-Za-z0-9._+=-]+")


@dataclass(frozen=True)
class ParquetFiles:
    """root: of the files. prefix: what Spark spells before their names. schema: as rows of the table are.

    inferred: of a table that is named by its path the file that Spark finds its columns in, by its name, with
    its size and time.
    """

    root: Path
    prefix: str
    schema: pa.Schema
    inferred: tuple[str, list[int]] | None

    def check_there(self) -> None:
        """See `Source`."""
        self.listed()

    def news(self, streamed: bool, known: Files) -> tuple[Arrived, int]:
        """See `Source`."""
        found = news(self.listed(), streamed, known)
        self.check(found.new)
        return found.arrived(self.read), sum(found.files[file][0] for file in found.new)

    def listed(self) -> Files:
        """The files, as they are now. Raises Unknown."""
        found: dict[str, list[int]] = {}
        try:
            entries = sorted(os.scandir(self.root), key=lambda entry: entry.name)
        except OSError as error:
            raise Unknown from error
        for entry in entries:
            if entry.name.startswith(("_metadata", "_common_metadata", "_spark_metadata")):
                raise Unknown
            if entry.name.startswith(".") or (entry.name.startswith("_") and "=" not in entry.name):
                continue
            if not entry.is_file() or not _PLAIN.fullmatch(entry.name) or entry.name.endswith("_COPYING_"):
                raise Unknown
            status = entry.stat()
            found[f"{self.prefix}/{entry.name}"] = [status.st_size, status.st_mtime_ns]
        if self.inferred is not None:
            name, seen = self.inferred
            first = f"{self.prefix}/{name}"
            if not found or min(found) != first or found[first] != seen:
                raise Unknown
        return found

    def check(self, files: Iterable[str]) -> None:
        """Raises Unknown for a file whose columns Spark would have to convert."""
        for file in files:
            with self._opened(file) as found:
                if not fits(found, dict(zip(self.schema.names, self.schema.types, strict=True))):
                    raise Unknown

    def read(self, files: Iterable[str]) -> pa.Table:
        """The rows of files that `check` takes. Raises StateError for one that is gone since."""
        try:
            return self._read(files)
        except Unknown as error:
            raise StateError(f"{self.root}: files went while they were read; run it again") from error

    def _read(self, files: Iterable[str]) -> pa.Table:
        names = self.schema.names
        parts = []
        for file in files:
            with self._opened(file) as found:
                parts.append(found.read(names).select(names).cast(self.schema))
        return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def _opened(self, file: str) -> pq.ParquetFile:
        try:
            return opened(self.root / file.removeprefix(f"{self.prefix}/"))
        except (OSError, pa.ArrowException) as error:
            raise Unknown from error
