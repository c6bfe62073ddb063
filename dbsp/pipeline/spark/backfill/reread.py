"""What a table's source has given already, read once more: for views that come when nothing holds its rows.

Spark's log names the files that were read, and the offsets of messages. What is read of them must be what
was read then: where one is gone, or was edited since, that is an error, and nothing has changed.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.reads import read_columns
from dbsp.pipeline.spark.backfill.messages import messages_before
from dbsp.pipeline.spark.bad_rows import corrupt_column, staged
from dbsp.pipeline.spark.checkpoints.on_store import checkpoint_of
from dbsp.pipeline.spark.decoding import decoded
from dbsp.pipeline.spark.planned import GLOB, entries_before, is_there, local_path
from dbsp.pipeline.spark.runs.edited import modified_at
from dbsp.pipeline.spark.sources import check_scheme, named, reader_of
from dbsp.pipeline.spark.staging import collect
from dbsp.rows.binary import CORRUPT
from dbsp.running.spark.messages import SparkFailure, first_line
from dbsp.running.spark.session import share_keys, share_packages
from dbsp.sql.plans.program import Program, Table
from dbsp.state.store import Store
from dbsp.targets.directories import path_of


@dataclass(frozen=True)
class Rereading:
    """program: the new one, of which files are read as it says. Called by `evolve`: see `ReadAgain`."""

    spark: SparkSession
    program: Program

    def __call__(
        self, store: Store, circuit: Circuit, tables: Sequence[str], streams: Sequence[str]
    ) -> Mapping[str, Sequence[Chunk]]:
        """Raises StateError, DataError, and then keeps no segment."""
        last = store.last
        if last is None or last.batch is None:
            return {table: [] for table in tables}
        checkpoint = checkpoint_of(store.root, last.checkpoint)
        checkpoint.settle(last)
        share_packages(self.spark.sparkContext)
        if store.segments.origin is not None:
            share_keys(self.spark.sparkContext)
        found: dict[str, list[Chunk]] = {}
        try:
            for name in tables:
                table, place = self.program.inputs[name], streams.index(name)
                if not table.is_file:
                    frame = messages_before(self.spark, table, checkpoint.root, place, last.batch)
                    found[name] = [] if frame is None else self._of_messages(store, circuit, table, frame)
                    continue
                entries = [*entries_before(checkpoint.root, place, last.batch + 1)]
                files = [entry["path"] for entry in reversed(entries)]
                self._check(table, {entry["path"]: entry["timestamp"] for entry in entries})
                found[name] = self._read(store, circuit, table, files) if files else []
        except BaseException:
            store.discard({chunk.segment for chunks in found.values() for chunk in chunks})
            raise
        return found

    def _of_messages(self, store: Store, circuit: Circuit, table: Table, frame: DataFrame) -> list[Chunk]:
        read = read_columns(circuit, table.name)
        opened = decoded(table, frame, read) if table.value_format is not None else named(table, frame, read)
        try:
            return self._staged(store, table, opened, read)
        except SparkFailure as error:
            raise StateError(
                f"{table.location}: table '{table.name}': what was read of its source can't be read again "
                f"({first_line(error)}); nothing has changed"
            ) from error

    def _read(self, store: Store, circuit: Circuit, table: Table, files: list[str]) -> list[Chunk]:
        reader = reader_of(self.spark.read, table, corrupt_column(table))
        if table.keeps_bad_rows:
            reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
        path = path_of(table)
        if not glob.has_magic(path) and not os.path.isfile(path):
            reader = reader.option("basePath", path)  # of columns that are in the names of folders
        frame: DataFrame = reader.load([_escaped(file) for file in files])
        read = read_columns(circuit, table.name)
        return self._staged(store, table, named(table, frame, read), read)

    def _staged(self, store: Store, table: Table, opened: DataFrame, read: frozenset[int]) -> list[Chunk]:
        place = store.segments.place
        found = collect(store, staged(opened, 0, table, self.program.timezone, place, read))
        # what is no row of the table is among the bad rows already
        good, bad = ([chunk for relation, chunk in found if relation == own] for own in (0, ~0))
        store.discard({c.segment for c in bad} - {c.segment for c in good})
        return good

    def _check(self, table: Table, files: Mapping[str, int]) -> None:
        """files: URIs, and when each was modified as it was read."""
        check_scheme(self.spark, table)
        for file, then in files.items():
            local = local_path(file)
            if modified_at(local) is None if local is not None else not is_there(self.spark, file):
                problem = "is gone since it was read"
            elif local is not None and modified_at(local) != then:
                problem = "was edited after it was read"
            else:
                continue
            raise StateError(
                f"{table.location}: table '{table.name}': '{local or file}' {problem}, so its rows can't be "
                "read again; nothing has changed"
            )


def _escaped(file: str) -> str:
    """A path, or a pattern that finds just this file."""
    return GLOB.sub(r"\\\1", local_path(file) or unquote(file))
