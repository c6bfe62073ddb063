"""A refresh of a project: what its sources have, one step of its circuit, the tables that the step changes.

    sources ─► what is new, or differs ─► one step ─► each table: its view's changes since its last step

The step is one commit, so that all datasets are of the same sources. A table is written after it, and knows
which step it has: whatever ends a run, the next goes on from there. Where a dataset can't be maintained and
may be recomputed, Spark does it once what it reads is written; to what reads it, it is a source that is
compared.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import Error, StateError
from dbsp.circuits.traces.zset import ZSet
from dbsp.declared.asked import Asked
from dbsp.declared.failing import placed
from dbsp.declared.project.datasets import Dataset, Project, above, shown
from dbsp.declared.project.dialect import counted, dropped
from dbsp.declared.project.program import Compiled, countings, view_name
from dbsp.declared.project.surroundings import Files, Surroundings
from dbsp.declared.reads import Reads
from dbsp.declared.tables.manifest import Manifest
from dbsp.declared.tables.opened import manifest_of, partitioning_of
from dbsp.declared.tables.parquet import ParquetTable, Written
from dbsp.history.between import changes_between
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.incoming import arrow_schema
from dbsp.state.records.places import Place
from dbsp.views.outputs import changes_schema

# full: written whole, the first time or anew; recomputed: by Spark, as at every run
INCREMENTAL, FULL, RECOMPUTED, UNCHANGED = "incremental", "full fill", "recomputed", "unchanged"


@dataclass(frozen=True)
class Unmet:
    """rows: of a dataset's, how many don't meet an expectation; more: than when its table was written.

    dropped: whether they are left out; else they stay.
    """

    dataset: str
    expectation: str
    rows: int
    more: int
    dropped: bool = False


@dataclass(frozen=True)
class Done:
    """What became of a dataset. seconds: of the step, which is one for all, and of its own writing.

    full: those that its last full refresh took. unmet: of each expectation that fails no run, of it and of
    the temporary views that it is made of.
    """

    dataset: Dataset
    how: str
    written: Written
    seconds: float
    full: float
    unmet: tuple[Unmet, ...] = ()


@dataclass
class Refresh:
    """Of one project, as often as it is asked for. In between its state stays open."""

    around: Surroundings
    project: Project
    compiled: Compiled
    pipeline: Pipeline
    reads: Reads
    folder: Place

    def __post_init__(self) -> None:
        self.reads.open(self.pipeline)
        self.reads.note_streams(self.project)
        self._read: dict[str, Files | None] = {}

    def run(self, asked: Asked) -> list[Done]:
        """Raises Error; what is written by then stays, and the next refresh goes on from there."""
        done: list[Done] = []
        self._look(asked)
        for dataset in self.project.datasets:
            if not self.compiled.is_kept(dataset):
                done += self._bring(
                    [one for one in above(self.project, dataset) if one.is_stored], asked, done
                )
                done.append(self._recompute(dataset))
        done += self._bring(self.project.refreshed, asked, done)
        order = {dataset.name: number for number, dataset in enumerate(self.project.datasets)}
        return sorted(done, key=lambda one: order[one.dataset.name])

    # -- what has changed ---------------------------------------------------------------------------

    def _bring(self, datasets: Sequence[Dataset], asked: Asked, done: Sequence[Done]) -> list[Done]:
        """Make a step of what is queued, and write these tables, but for those that are done."""
        began = time.perf_counter()
        self._step()
        shared = time.perf_counter() - began
        written = {one.dataset.name for one in done}
        return [
            self._write(dataset, asked.is_anew(self.project, dataset), shared)
            for dataset in datasets
            if dataset.name not in written
            and self.compiled.is_kept(dataset)
            and asked.is_wanted(self.project, dataset)
        ]

    def _look(self, asked: Asked) -> None:
        """Queue what sources have, once for all datasets."""
        read: dict[str, Files | None] = {}
        anew, left = self._read_anew(asked), asked.left(self.project)
        for dataset in left.datasets:
            self._check_left(dataset)
        try:
            for table in self.project.tables:
                if table.name in left.tables:
                    continue
                name = view_name(table.relation)
                schema = arrow_schema(self.pipeline.program.inputs[name])
                known, compared = self.reads.known.get(name, {}), asked.may_compare(self.project, table.name)
                arrived = self.around.look(table, schema, known, compared)
                if arrived.lost and table.streamed and table.name in anew:
                    raise Error(
                        f"not supported yet: --full-refresh {shown(anew[table.name].name)}, as files of "
                        f"{shown(table.name)} that it has read are gone, or others; --full-refresh-all reads "
                        "those that are there"
                    )
                if arrived.rows is not None:
                    queue = self.pipeline.replace if arrived.how == "compared" else self.pipeline.insert
                    queue(name, arrived.rows())
                if arrived.gone is not None:
                    self.pipeline.delete(name, arrived.gone())
                read[name] = arrived.files
        except BaseException:
            self.pipeline.discard()
            raise
        self._read = read

    def _check_left(self, dataset: Dataset) -> None:
        """Raises Error for a table that isn't what the state has of it, as what reads it is of the state."""
        manifest = self._manifest(dataset)
        behind = not manifest.is_there or not self.compiled.is_kept(dataset)
        if not behind:
            manifest.open(self._directory(dataset, manifest))
            since = self._since(dataset, manifest)
            behind = since is None or any(map(len, since))
        if behind:
            raise Error(
                f"not supported yet: --refresh of what reads {shown(dataset.name)} without it, as its table "
                "lacks what is known of it; name that, too"
            )

    def _read_anew(self, asked: Asked) -> dict[str, Dataset]:
        """By their names the tables that a streaming table reads which is to be written from scratch.

        All that it has read is in the state: that is what a stream from its start would read, if it is there
        still.
        """
        found: dict[str, Dataset] = {}
        for dataset in self.project.refreshed:
            if dataset.is_streaming and asked.is_anew(self.project, dataset):
                if not asked.full_refresh_all and self.compiled.meets_tables(dataset):
                    raise Error(
                        f"not supported yet: --full-refresh {shown(dataset.name)}, whose rows have met "
                        "tables as they were then; --full-refresh-all has them meet those of now"
                    )
                # stored ones between have their rows, whatever became of files
                read = [one for one in above(self.project, dataset) if not one.is_stored]
                streams = {name for one in (dataset, *read) for flow in one.flows for name in flow.streams}
                found |= dict.fromkeys(streams, dataset)
        return found

    def _step(self) -> None:
        try:
            # the first one also brings rows that no source has, as of VALUES
            if any(self.pipeline.queued.values()) or not self.pipeline.last_step:
                with placed(self.project):
                    self.reads.step(self.pipeline, self._read)
            else:
                self.reads.note(self._read)
        except BaseException:
            self.pipeline.discard()
            raise

    def _recompute(self, dataset: Dataset) -> Done:
        """What can't be maintained, by Spark; to what reads it, it is a source."""
        began = time.perf_counter()
        rows, count = self.around.recompute(self.project, dataset)
        self.pipeline.replace(view_name(dataset.name), rows)
        seconds = time.perf_counter() - began
        return Done(dataset, RECOMPUTED, Written(count, 0, 0, 0, 0), seconds, seconds)

    # -- what is written ----------------------------------------------------------------------------

    def _write(self, dataset: Dataset, anew: bool, shared: float) -> Done:
        began = time.perf_counter()
        view, last = view_name(dataset.name), self.pipeline.last_step
        manifest = self._manifest(dataset)
        manifest.open(self._directory(dataset, manifest))
        partitioning = partitioning_of(dataset, self._schema(dataset))
        same = manifest.held.columns == str(partitioning) and not anew
        since = manifest.held.step if same else 0
        parts = self._since(dataset, manifest) if same else None
        whole = parts is None
        if parts is None:
            if not (anew or self._is_ours(manifest)):
                _check_replaced(dataset, manifest)
            parts = self.pipeline[view].parts
        written, changes = Written(0, 0, 0, 0, 0), whole or any(map(len, parts))
        if changes:
            hashed = not (dataset.only_grows or self.pipeline.program.views[view].append_only)
            table = ParquetTable(manifest, partitioning, dataset.only_grows, hashed)
            written = table.apply(last, self.reads.writer, parts, whole, shared)
        if dataset.is_sink:
            self._send(dataset, manifest)
        elif dataset.logged is None and (changes or manifest.is_untold):
            self.around.written(dataset, manifest.is_untold)
            manifest.told()
        how = FULL if whole else INCREMENTAL if written.added or written.removed else UNCHANGED
        seconds = shared + time.perf_counter() - began
        return Done(dataset, how, written, seconds, manifest.held.seconds, self._unmet(dataset, since))

    def _unmet(self, dataset: Dataset, since: int) -> tuple[Unmet, ...]:
        """since: the step of its table before."""
        between = [one for one in above(self.project, dataset) if not one.is_stored]
        found = []
        for one in (*between, dataset):
            left_out = dropped(one)
            for name in (*counted(one), *left_out):
                views = [view_name(view) for view in countings(one, name)]
                if not self.compiled.program.views.keys() >= set(views):  # which this state can't count
                    continue
                counts = [self._count(view, since) for view in views]
                rows, more = map(sum, zip(*counts, strict=True))
                found.append(Unmet(one.name, name, rows, more, name in left_out))
        return tuple(found)

    def _count(self, view: str, since: int) -> tuple[int, int]:
        """Of a view of one number: what it is, and how much more than at that step."""
        rows = _added(self.pipeline[view].parts)
        try:
            return rows, _added(self._changes(view, since)) if since else rows
        except StateError:  # see `_since`
            return rows, rows

    def _directory(self, dataset: Dataset, manifest: Manifest) -> Path:
        if dataset.is_sink:
            assert isinstance(manifest.folder, Path)  # else it is refused
            return manifest.folder / manifest.name
        if dataset.logged is not None:  # whose files its catalogue knows
            return Path()
        return self.around.directory(dataset, manifest.is_there)

    def _send(self, sink: Dataset, manifest: Manifest) -> None:
        """Hand on what is written, which then goes. A run may have died before."""
        held = manifest.held
        if held.files:
            self.around.send(sink, manifest.directory)
            manifest.write(replace(held, files=(), removed=tuple(file.path for file in held.files)))

    def _manifest(self, dataset: Dataset) -> Manifest:
        return manifest_of(self.folder, dataset, self._schema(dataset))

    def _schema(self, dataset: Dataset) -> pa.Schema:
        return changes_schema(self.pipeline.program, view_name(dataset.name))

    def _is_ours(self, manifest: Manifest) -> bool:
        """Whether the table's files are those that this state has written."""
        return manifest.held.writer == self.reads.writer and manifest.is_untouched()

    def _since(self, dataset: Dataset, manifest: Manifest) -> Sequence[ZSet] | None:
        """What the table lacks; None where it is to be written whole."""
        held = manifest.held
        if not self._is_ours(manifest):
            return None
        if held.step == self.pipeline.last_step:
            return ()
        try:
            return self._changes(view_name(dataset.name), held.step)
        except StateError:  # the view wasn't there then, or that step isn't kept any more
            return None

    def _changes(self, view: str, since: int) -> Sequence[ZSet]:
        program, store = self.pipeline.program, self.pipeline.store
        return changes_between(program, store, view, since, self.pipeline.last_step).parts


def _added(counts: Sequence[ZSet]) -> int:
    """Of rows that have a count each."""
    return sum(int(np.dot(part.rows.column(0).to_numpy(), part.weights)) for part in counts)


def _check_replaced(dataset: Dataset, manifest: Manifest) -> None:
    """Raises StateError before rows are lost that nothing can compute again, or are sent once more."""
    if dataset.is_sink:
        if manifest.held.step:
            raise StateError(
                f"{dataset.place}: sink {shown(dataset.name)} has got rows, and which of those that there "
                "are isn't known any more; --full-refresh of it sends all"
            )
        return
    if dataset.is_streaming and manifest.is_filled():
        raise StateError(
            f"{dataset.place}: streaming table {shown(dataset.name)} has rows of somebody else's, in "
            f"{manifest.place}; --full-refresh-all reads its sources from their start, and writes it anew"
        )
