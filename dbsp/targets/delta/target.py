"""A Delta table: the changes of a step and its number, in one commit of the table's log.

    read the log; unless its transaction `dbsp WRITER` is at the step: append, or merge by key, with that
    transaction at the step, in one commit

So a step is written once, whatever dies in between: files that no commit names are nobody's rows, and where
the answer to a commit was lost, the next try finds the step in the log. Two commits of one transaction can't
both be made, so neither can a try that is still under way. Two state directories can't write one table: its
property dbsp.writer names the one that does. append and retract: records are added. upsert: the table is what
the view is, by a merge, which writes anew the files that have a key that changes.

Delta transaction protocol: github.com/delta-io/delta, PROTOCOL.md, "Transaction Identifiers".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.circuits.segments.chunk import Chunk
from dbsp.sql.plans.program import DELETED, OP
from dbsp.targets.databases.statements import quoted
from dbsp.targets.delta.tables import check_columns, existing, new_table
from dbsp.targets.outlet import Outlet, held
from dbsp.targets.target import Change

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable

_WRITER = "dbsp.writer"
_LOG = "its log"
_CURE = f"give another path, or empty the table and unset its property {_WRITER}"
# of a merge, how many records are looked at before the files are chosen that may have their keys
_FEW = 1 << 20


@dataclass
class Delta:
    """A `Target`."""

    outlet: Outlet
    _table: DeltaTable | None = None

    def __post_init__(self) -> None:
        self.outlet.check_package("deltalake", "delta")

    @property
    def directory(self) -> str | None:
        """Of files that a step adds: the log says which they are."""
        return None

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """In one commit, unless the table has the step."""
        try:
            if self._table is None:
                self._table = self._opened(step)
            else:
                self._table.update_incremental()
            if self._claimed(self._table) < step:
                self._add(self._table, step, changes)
        except BaseException:
            self.close()  # what is known of the table may not be so any more
            raise

    def why(self, error: Exception) -> str:
        """In one line."""
        return str(error).strip().split("\n", 1)[0]

    def close(self) -> None:
        """Forget the table, which holds nothing open."""
        self._table = None

    def _opened(self, step: int) -> DeltaTable:
        table = existing(self.outlet)
        if table is None:
            table = new_table(self.outlet)
        check_columns(table, self.outlet)
        if _owner(table) is None:
            if self.outlet.key and table.file_uris():
                raise Error("it has rows that no step has written, and is to be what a view is; empty it")
            # a commit that waits for those of others: they, or it, fail
            table.alter.set_table_properties({_WRITER: self.outlet.writer()}, raise_if_not_exists=False)
            table.update_incremental()
        self.outlet.check_steps(step, self._claimed(table), _LOG, _CURE)
        return table

    def _claimed(self, table: DeltaTable) -> int:
        """The last step that the table has. Raises StateError where it is another's."""
        owner = _owner(table) or "unknown"
        written = table.transaction_version(_transaction(owner)) or 0
        self.outlet.check_writer(owner, written, _LOG, _CURE)
        return written

    def _add(self, table: DeltaTable, step: int, changes: Sequence[Change]) -> None:
        from deltalake import CommitProperties, Transaction, write_deltalake  # noqa: PLC0415  an extra

        noted = CommitProperties(app_transactions=[Transaction(_transaction(self.outlet.writer()), step)])
        records = self.outlet.records(step, changes)
        if not self.outlet.key:
            write_deltalake(table, self._reader(records), mode="append", commit_properties=noted)
        elif not table.file_uris():
            write_deltalake(table, self._reader(map(held, records)), mode="append", commit_properties=noted)
        else:
            self._merge(table, records, noted, sum(_rows(chunks) for _, chunks in changes))

    def _merge(
        self, table: DeltaTable, records: Iterator[pa.RecordBatch], noted: CommitProperties, rows: int
    ) -> None:
        same = " AND ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in self.outlet.key)
        is_deletion = f"s.{quoted(OP)} = '{DELETED}'"
        (
            table.merge(
                self._reader(records, pa.field(OP, pa.string())),
                same,
                source_alias="s",
                target_alias="t",
                streamed_exec=rows > _FEW,
                commit_properties=noted,
            )
            .when_matched_delete(is_deletion)
            .when_matched_update_all(except_cols=[OP])
            .when_not_matched_insert_all(f"NOT {is_deletion}", except_cols=[OP])
            .execute()
        )

    def _reader(self, records: Iterator[pa.RecordBatch], *more: pa.Field) -> pa.RecordBatchReader:
        """As a stream, which may have no rows: the step is noted all the same."""
        first = next(records, None)
        if first is None:
            columns = [pa.field(column.name, column.type) for column in self.outlet.table.schema]
            return pa.RecordBatchReader.from_batches(pa.schema([*columns, *more]), iter([]))
        return pa.RecordBatchReader.from_batches(first.schema, chain([first], records))


def _owner(table: DeltaTable) -> str | None:
    return table.metadata().configuration.get(_WRITER)


def _transaction(writer: str) -> str:
    return f"dbsp {writer}"


def _rows(chunks: Sequence[list[object]]) -> int:
    return sum(Chunk.from_json(chunk).rows for chunk in chunks)
