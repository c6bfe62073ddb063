"""A dataset's table, as Parquet files that are kept equal to its view.

    a row that is new        is in a file that the step adds
    a row that is retracted  its file is written anew without it, and no other is

A file has up to `ROWS` rows. Beside it, with the records of the table, are the hashes of its rows, sorted, 8
bytes a row; so finding the files of d retracted rows costs O(d log n) a file, and the files that have none
aren't opened. What a step costs is the rows that it adds and the files that it finds: rows that change
together should come together, or be PARTITIONED BY what they share. Small files are merged, eight of a size
at a time; never those of a streaming table, whose readers take every file for new rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.zset import ZSet
from dbsp.declared.tables.manifest import DataFile, Held, Manifest
from dbsp.declared.tables.partitions import Partitioning, folder_of, folders_of
from dbsp.declared.tables.rewriting import hashes_of, may_hold, pieces, repeated, take_out

ROWS = 1 << 17
_TOGETHER = 8  # small files of a size class that become one


@dataclass(frozen=True)
class Written:
    """Rows that came and went, files that were added and removed, and bytes that were written."""

    inserted: int
    retracted: int
    added: int
    removed: int
    bytes: int


@dataclass
class ParquetTable:
    """grows: whether its files stay, so that who reads new ones reads new rows. hashed: whether rows may be
    taken back, so that their hashes are kept.
    """

    manifest: Manifest
    partitioning: Partitioning
    grows: bool
    hashed: bool

    @property
    def step(self) -> int:
        """The last that it has."""
        return self.manifest.held.step

    def apply(
        self, step: int, writer: str, parts: Sequence[ZSet], whole: bool = False, shared: float = 0.0
    ) -> Written:
        """Make the table what it is after the step. Raises StateError.

        parts: their sum is what changes, or if `whole` all that it is to hold; the names of columns may be
        others. writer: the state's name. shared: seconds that a full refresh has taken before.
        """
        with self.manifest.writing():
            if whole:
                self.manifest.begin_anew()
            return _Writing(self, whole, time.perf_counter() - shared).run(step, writer, parts)

    def read(self, path: str) -> pa.RecordBatch:
        """The rows of a file, whole."""
        return self.partitioning.joined(folder_of(path), self.manifest.read(path))

    def hashes(self, path: str) -> np.ndarray:
        """Of a file's rows, sorted."""
        found = self.manifest.indexes.get(Path(path).stem)
        if found is None:  # a table whose rows can be taken back only since its query was changed
            self.note_hashes(path, self.read(path))
            found = self.manifest.indexes.get(Path(path).stem)
            assert found is not None
        return found

    def note_hashes(self, path: str, rows: pa.RecordBatch) -> None:
        """So that its rows are found."""
        self.manifest.indexes.put(Path(path).stem, np.sort(hashes_of(rows)))

    def forget_hashes(self, path: str) -> None:
        """Of a file that is gone."""
        self.manifest.indexes.forget(Path(path).stem)


@dataclass
class _Writing:
    """One step's. began: when. files: what the table is to have. added: of those, what is new."""

    table: ParquetTable
    whole: bool
    began: float
    files: dict[str, DataFile] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    bytes: int = 0

    def run(self, step: int, writer: str, parts: Sequence[ZSet]) -> Written:
        manifest = self.table.manifest
        before = manifest.held
        if not self.whole:
            self.files = {file.path: file for file in before.files}
        inserted, retracted = self._insert(parts)
        gone = sum(int(rows.weights.sum()) for rows in retracted)
        if gone:
            self._retract(ZSet.sum(self.table.partitioning.schema, retracted))
        if not self.table.grows:
            self._merge()
        there = set(manifest.there()) if self.whole else {file.path for file in before.files}
        removed = tuple(sorted(there - self.files.keys()))
        added = tuple(path for path in self.added if path in self.files)
        held = Held(
            step,
            writer,
            tuple(self.files.values()),
            str(self.table.partitioning),
            time.perf_counter() - self.began if self.whole else before.seconds,
            added,
            removed,
            moved=before.moved or self._moved(before),
        )
        manifest.write(held)
        for path in removed:
            self.table.forget_hashes(path)
        return Written(inserted, gone, len(added), len(removed), self.bytes)

    def _moved(self, before: Held) -> bool:
        """Whether the table has partitions, and others than before."""
        return bool(self.table.partitioning.columns) and (
            self.whole or folders_of([*self.files]) != folders_of([file.path for file in before.files])
        )

    def _insert(self, parts: Sequence[ZSet]) -> tuple[int, list[ZSet]]:
        """How many rows came; and those that go, with weights above 0."""
        inserted, retracted, partitioning = 0, [], self.table.partitioning
        for stored in pieces(partitioning.schema, parts, ROWS):
            piece = ZSet(partitioning.as_read(stored.rows), stored.weights)
            comes = piece.weights > 0
            coming = repeated(piece if comes.all() else piece.take(np.flatnonzero(comes)))
            inserted += coming.num_rows
            self._add(coming)
            if not comes.all():
                retracted.append(-piece.take(np.flatnonzero(~comes)))
        return inserted, retracted

    def _retract(self, going: ZSet) -> None:
        hashes = hashes_of(going.rows)
        for path in list(self.files):
            if path in self.added:
                continue
            found = may_hold(self.table.hashes(path), hashes)
            if not found.any():
                continue
            asked, others = going.take(np.flatnonzero(found)), going.take(np.flatnonzero(~found))
            kept, left = take_out(self.table.read(path), asked)
            if kept.num_rows < self.files[path].rows:  # else only the hashes were those
                del self.files[path]
                self._add(kept)
            going = ZSet.sum(going.schema, [others, left])
            hashes = hashes_of(going.rows)
            if not len(going):
                return
        raise StateError(
            f"{self.table.manifest.place}: {len(going)} rows that the table had aren't there: "
            "something else has written it; refresh it in full"
        )

    def _merge(self) -> None:
        """Small files of a directory and a size class become one, where there are many."""
        classes: dict[tuple[str, int], list[DataFile]] = {}
        for file in self.files.values():
            if file.rows * _TOGETHER <= ROWS:
                level = max(file.rows, 1).bit_length() // _TOGETHER.bit_length()
                classes.setdefault((folder_of(file.path), level), []).append(file)
        for files in classes.values():
            if len(files) >= _TOGETHER:
                rows = pa.Table.from_batches([self.table.read(file.path) for file in files]).combine_chunks()
                for file in files:
                    del self.files[file.path]
                    if file.path in self.added:
                        self.table.manifest.discard(file.path)
                        self.table.forget_hashes(file.path)
                self._add(rows.to_batches()[0])

    def _add(self, rows: pa.RecordBatch) -> None:
        """Files of these rows."""
        for folder, stored in self.table.partitioning.split(rows):
            for start in range(0, stored.num_rows, ROWS):
                self._write(folder, stored.slice(start, ROWS))

    def _write(self, folder: str, stored: pa.RecordBatch) -> None:
        file = self.table.manifest.add(folder, stored)
        self.files[file.path] = file
        self.added.append(file.path)
        self.bytes += file.size
        if self.table.hashed:
            rows = pa.Table.from_batches([stored])
            self.table.note_hashes(file.path, self.table.partitioning.joined(folder, rows))
