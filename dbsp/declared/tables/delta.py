"""The same directory as a Delta table: a step is one commit of its log.

    files that come, and those that go       add, remove
    the step, and the state that has made it  txn: the transaction `dbsp WRITER` at the step

Files have their names before the commit, which is an entry that is made where there was none: readers see the
step whole, or not at all. What goes stays on the disk, for those who read an older version; VACUUM is the
owner's. Whether a commit was made that a run has died at is in the log. A version that isn't ours is somebody
else's, as a file is that no step has written.

Delta transaction protocol: github.com/delta-io/delta, PROTOCOL.md. Its types, features and checkpoints are
delta-rs's; what that doesn't have is a commit that takes out files by their names.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

from dbsp.circuits.errors import StateError
from dbsp.declared.tables.manifest import DataFile, Held, Manifest
from dbsp.declared.tables.partitions import NULL, folder_of
from dbsp.state.records.commits import create_whole, sync

DELTA = "delta"  # of a project's USING
_LOG = "_delta_log"
_ENTRY = re.compile(r"(\d{20})\.json")
_CHECKPOINTED = 10  # versions from one checkpoint to the next, as Delta's own writers have it
# features that ask nothing of who writes as it is done here
_FEATURES = frozenset({"timestampNtz", "appendOnly", "invariants"})
_SIMPLE = 2  # a version of writers that knows no features by name, and what it has nevertheless
_BEFORE_FEATURES = ("appendOnly", "invariants")
Action = Mapping[str, Any]


@dataclass
class DeltaManifest(Manifest):
    """schema: of the rows. partitioned_by: columns that are in directories. properties: of the table."""

    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    partitioned_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    _replaced: int = -1  # the version whose files `there` has given

    @property
    def is_untold(self) -> bool:
        """Never: readers ask the log."""
        return False

    def there(self) -> list[str]:
        """See `Manifest`: as the log has them."""
        from deltalake import DeltaTable  # noqa: PLC0415  an extra

        if self._last() < 0:
            return []
        table = DeltaTable(self.directory)
        self._replaced = table.version()
        return [unquote(path) for path in pa.table(table.get_add_actions(flatten=True))["path"].to_pylist()]

    def is_untouched(self) -> bool:
        """Whether the last version is the one that was written, with all of its files."""
        return self._last() == self.held.version >= 0 and all(
            (self.directory / file.path).exists() for file in self.held.files
        )

    def write(self, held: Held) -> None:
        """See `Manifest`. Raises StateError where somebody else commits meanwhile."""
        # of the version that was looked at: of a later one nobody knows what is in it
        super().write(replace(held, version=max(self.held.version, self._replaced) + 1))
        if self.held.version and self.held.version % _CHECKPOINTED == 0:
            from deltalake import DeltaTable  # noqa: PLC0415

            DeltaTable(self.directory).create_checkpoint()

    def _goes_on(self, begun: Held) -> bool:
        return self._is_committed(begun) or self._last() < begun.version

    def _is_committed(self, held: Held) -> bool:
        """Whether its version is its own; a run may have died behind the commit."""
        entry = self._entry(held.version)
        if not entry.exists():
            return False
        return _transaction(held) in map(json.loads, entry.read_text(encoding="utf-8").splitlines())

    def _take_out(self, held: Held) -> None:
        self._sync_names(held.added)
        if self._is_committed(held):
            return
        entry = self._entry(held.version)
        entry.parent.mkdir(exist_ok=True)
        text = "\n".join(json.dumps(action) for action in self._actions(held)) + "\n"
        try:
            create_whole(entry, text.encode())
        except FileExistsError as error:
            raise StateError(
                f"{self.directory}: somebody else has committed version {held.version}; run it again"
            ) from error
        sync(entry.parent)

    def _actions(self, held: Held) -> Iterator[Action]:
        now = time.time_ns() // 1_000_000
        yield {"commitInfo": {"timestamp": now, "operation": "WRITE", "engineInfo": "dbsp"}}
        yield _transaction(held)
        yield from self._metadata(held)
        files = {file.path: file for file in held.files}
        for path in held.added:
            yield {"add": {**self._said(files[path]), "modificationTime": now, "dataChange": True}}
        for path in held.removed:
            yield {"remove": {"path": _spelled(path), "deletionTimestamp": now, "dataChange": True}}

    def _said(self, file: DataFile) -> Action:
        values = dict(part.split("=", 1) for part in folder_of(file.path).split("/") if part)
        return {
            "path": _spelled(file.path),
            "partitionValues": {
                unquote(name): None if value == NULL else unquote(value) for name, value in values.items()
            },
            "size": file.size,
            "stats": json.dumps({"numRecords": file.rows}),
        }

    def _metadata(self, held: Held) -> Iterator[Action]:
        """Of a table that is new, or gets other columns, or was somebody else's."""
        if held.columns == self.held.columns and self.held.version >= 0:
            return
        nullable = pa.schema([field.with_nullable(True) for field in self.schema])  # another query's may be
        protocol, metadata = new_metadata(nullable, self.partitioned_by)
        own = {**metadata, "description": self.comment, "configuration": dict(self.properties)}
        if self._last() < 0:
            yield {"protocol": protocol}
            yield {"metaData": own}
            return
        from deltalake import DeltaTable  # noqa: PLC0415

        there = DeltaTable(self.directory)
        yield from _raised(there.protocol(), protocol)
        yield {"metaData": {**own, "id": str(there.metadata().id)}}

    def check_features(self) -> None:
        """Raises StateError for a table that asks more of its writers than is done here."""
        from deltalake import DeltaTable  # noqa: PLC0415

        if self._last() < 0:
            return
        asked = DeltaTable(self.directory).protocol()
        more = set(asked.writer_features or ()) - _FEATURES
        if more or (asked.writer_features is None and asked.min_writer_version > _SIMPLE):
            listed = ", ".join(sorted(more)) or f"writers of version {asked.min_writer_version}"
            raise StateError(
                f"{self.directory}: not supported yet: a Delta table with {listed}; drop it, to have it made"
            )

    def _last(self) -> int:
        """The last version of the log; -1: there is none."""
        log = self.directory / _LOG
        found = [_ENTRY.fullmatch(path.name) for path in log.iterdir()] if log.is_dir() else []
        return max((int(entry[1]) for entry in found if entry), default=-1)

    def _entry(self, version: int) -> Path:
        return self.directory / _LOG / f"{version:020}.json"


def new_metadata(schema: pa.Schema, partitioned_by: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`protocol` and `metaData` of a new table, as delta-rs writes them."""
    from deltalake import DeltaTable, Schema  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        DeltaTable.create(folder, Schema.from_arrow(schema), partition_by=list(partitioned_by))
        text = (Path(folder) / _LOG / f"{0:020}.json").read_text(encoding="utf-8")
    actions = {name: said for line in text.splitlines() for name, said in json.loads(line).items()}
    return actions["protocol"], actions["metaData"]


def _raised(have: Any, wanted: Action) -> Iterator[Action]:
    """The protocol of a table that is there, if its new columns ask more of it; it is never lowered."""
    features = set(wanted.get("writerFeatures", ()))
    if features <= set(have.writer_features or ()):
        return
    before = have.writer_features if have.writer_features is not None else _BEFORE_FEATURES
    readers = {*wanted.get("readerFeatures", ()), *(have.reader_features or ())}
    yield {
        "protocol": {
            "minReaderVersion": wanted["minReaderVersion"],
            "minWriterVersion": wanted["minWriterVersion"],
            "readerFeatures": sorted(readers),
            "writerFeatures": sorted({*features, *before}),
        }
    }


def _transaction(held: Held) -> Action:
    return {"txn": {"appId": f"dbsp {held.writer}", "version": held.step}}


def _spelled(path: str) -> str:
    return quote(path, safe="/=")
