"""What has changed in a Delta table, by its log.

    Δ(v₀, v₁) = Σ over its commits  rows(cdc)                      where a commit has a change feed
                                    rows(add) − rows(remove)       where it has none

Entries are read one after the other from the one that is known, so a look costs what was committed since,
and nothing that grows with the table. What only lays rows out anew (OPTIMIZE) says so of each file, and is no
change. A file that came and went in between isn't read.

A file may have rows that are deleted beside it (a deletion vector V). It comes and goes with that, so

    rows(F, V₁) − rows(F, V₀) = rows of F in V₀ ∖ V₁ − those in V₁ ∖ V₀

and no others are read.

    known   {log:ID/ENTRY: [length, CRC-32, …]}   the last entry that was read, of the table with that id; and
                                                  what is known of its columns (`mapping.py`)

Delta transaction protocol: github.com/delta-io/delta, PROTOCOL.md. The first version that is read is
delta-rs's to say, by its checkpoints; entries are JSON.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import Error, StateError
from dbsp.declared.logs.changed import Changed, Log, Lost, as_known, from_known
from dbsp.declared.logs.mapping import MODE, MODES, check_names, seen_names, stored_names
from dbsp.declared.logs.pieces import Piece, Pieces
from dbsp.declared.logs.vectors import Numbers, Vector, vector_of
from dbsp.declared.project.surroundings import Files
from dbsp.state.records.places import place_of, scheme_of

DELTA = "delta"
_LOG = "_delta_log"
_CAME, _WENT = ("insert", "update_postimage"), ("delete", "update_preimage")
# what may be asked of readers by name, and asks nothing of who reads as it is done here
_FEATURES = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening"})
# as state on a store has it; keys and endpoints are in the environment of both
_ON_STORES = {"allow_http": "true"}
_DONE = frozenset({"deletionVectors", "columnMapping"})
_ENTRY = 2  # of what is known of a version: its entry's numbers
_ALTERING = ("metaData", "protocol")
Action = Mapping[str, Any]


@dataclass(frozen=True)
class DeltaLog(Log):
    """place: a directory or a URI."""

    name: str
    place: str

    def schema(self) -> str:
        """See `Log`."""
        return str(self._table().schema().to_json())

    def since(self, schema: pa.Schema, known: Files | None, streamed: bool) -> Changed:
        """See `Log`."""
        identity, entry, seen = from_known(known)
        seen, mapped = seen[:_ENTRY], seen[_ENTRY:]
        commits = _Commits(self, int(entry), streamed)
        text = commits.entry(commits.since)
        if text is None or _seen(text) != seen:  # cleaned up, or of a table that was made anew
            commits.check_identity(identity)
        commits.read()
        stored: Mapping[str, str] = {}
        if commits.altered or mapped:
            stored = stored_names(self.name, self._table())  # which may ask more of readers now
            check_names(stored, mapped)
            mapped = seen_names(stored)
        feeds: dict[str, pa.Table] = {}
        came, went = (Pieces(self.place, schema, tuple(each), stored, feeds) for each in commits.pieces())
        missing = [*came.missing(), *(() if streamed else went.missing())]
        if missing:
            raise Lost(f"of versions {commits.since + 1} to {commits.until} {missing[0]} is gone (VACUUM)")
        now = as_known(identity, commits.until, [*(commits.seen or seen), *mapped])
        by = f"at version {commits.removed_at}"
        return Changed(now, came, went, altered=commits.altered, gone_by=by)

    def whole(self, schema: pa.Schema) -> Changed:
        """See `Log`."""
        table = self._table()
        version, identity = table.version(), str(table.metadata().id)
        text = _Commits(self, version).entry(version)
        if text is None:
            raise StateError(f"table {self.name}: its log has no entry {version} any more; write to it")
        pieces, stored, vectors = [], stored_names(self.name, table), _vectors(table)
        for file in pa.table(table.get_add_actions(flatten=True)).to_pylist():
            values = {
                stored.get(name, name): _spelled(value)
                for name, value in (
                    (name.removeprefix("partition."), value)
                    for name, value in file.items()
                    if name.startswith("partition.")
                )
            }
            path = _path(self.name, file["path"])
            pieces.append(Piece(path, values, file["size_bytes"], without=vectors.get(path)))
        added = Pieces(self.place, schema, tuple(pieces), stored)
        now = as_known(identity, version, [*_seen(text), *seen_names(stored)])
        return Changed(now, added, Pieces(self.place, schema, ()), True)

    def _table(self) -> Any:
        """As delta-rs opens it. Raises Error for one that asks more of its readers than is done here."""
        try:
            from deltalake import DeltaTable  # noqa: PLC0415  an extra
            from deltalake.exceptions import DeltaError  # noqa: PLC0415
        except ImportError as error:
            raise Error(
                f"table {self.name} is a Delta table, which needs deltalake: pip install 'dbsp[delta]'"
            ) from error
        try:
            table = DeltaTable(self.place, storage_options=_ON_STORES if scheme_of(self.place) else None)
            asked, properties = table.protocol(), table.metadata().configuration
        except (DeltaError, OSError) as error:
            said = str(error).strip().split("\n", 1)[0]  # the rest is where in delta-rs
            raise Error(f"table {self.name} can't be read: {said}") from error
        _check(self.name, asked.reader_features or (), properties)
        return table


@dataclass
class _Commits:
    """Those after `since`, in order. grows: whether only what comes is asked, which a feed isn't needed for.

    counts: of each file, with its deleted rows, how often it came less how often it went. removed_at: the
    last that took rows out. altered: whether columns, properties or what is asked of readers were set.
    """

    log: DeltaLog
    since: int
    grows: bool = False
    until: int = -1
    seen: list[int] | None = None
    feeds: list[Piece] = field(default_factory=list)
    counts: dict[tuple[str, Vector | None], int] = field(default_factory=dict)
    files: dict[str, Piece] = field(default_factory=dict)
    removed_at: int = -1
    altered: bool = False

    def entry(self, version: int) -> bytes | None:
        """Of the log; None where there is none."""
        try:
            return (place_of(self.log.place) / _LOG / f"{version:020}.json").read_bytes()
        except FileNotFoundError:
            return None

    def check_identity(self, identity: str) -> None:
        """Raises Lost for another table, and for one whose next entry is gone."""
        table = self.log._table()
        if str(table.metadata().id) != identity:
            raise Lost("it is another table than before")
        if table.version() < self.since:
            raise Lost(f"its last version is {table.version()}, and {self.since} was read")
        if table.version() > self.since and self.entry(self.since + 1) is None:
            raise Lost(f"its log has no entry {self.since + 1} any more")

    def read(self) -> None:
        """All that there are."""
        self.until = self.since
        while (text := self.entry(self.until + 1)) is not None:
            self.until += 1
            self.seen = _seen(text)
            self._take([json.loads(line) for line in text.splitlines() if line.strip()])

    def _take(self, actions: list[Action]) -> None:
        self.altered = self.altered or any(kind in action for action in actions for kind in _ALTERING)
        feed = [] if self.grows else _feed(actions)
        self.feeds += map(self._piece, feed)
        if feed:
            return
        for action in actions:
            if "add" in action and action["add"].get("dataChange", True):
                self._count(action["add"], 1)
            elif "remove" in action and action["remove"].get("dataChange", True):
                self._count(action["remove"], -1)
                self.removed_at = self.until

    def _count(self, said: Action, number: int) -> None:
        piece = self._piece(said)
        key = (piece.path, vector_of(self.log.name, said.get("deletionVector")))
        self.counts[key] = self.counts.get(key, 0) + number
        self.files.setdefault(piece.path, piece)

    def _piece(self, said: Action) -> Piece:
        path, values = _path(self.log.name, said["path"]), said.get("partitionValues")
        if values is None:  # of a file that goes it may be left out
            if path in self.files:
                return self.files[path]
            if self.log._table().metadata().partition_columns:
                raise Lost(f"version {self.until} doesn't say which partition {path} is of")
        return Piece(path, dict(values or {}), said.get("size") or 0)

    def pieces(self) -> tuple[list[Piece], list[Piece]]:
        """Whose rows came, and whose went."""
        added = [Piece(one.path, one.values, one.size, _CAME) for one in self.feeds]
        gone = [Piece(one.path, one.values, one.size, _WENT) for one in self.feeds]
        came, went = self._counted(1), self._counted(-1)
        for path in {path: None for path, _ in self.counts}:
            both = path in came and path in went
            for ours, theirs, into in ((came, went, added), (went, came, gone)):
                if path not in ours:
                    continue
                among = theirs[path] if both else None
                if not both or among is not None:  # of a file that stays, what others had deleted
                    into.append(replace(self.files[path], among=among, without=ours[path]))
        return added, gone

    def _counted(self, sign: int) -> dict[str, Vector | None]:
        """Of the files that came (1) or went (-1) the rows that are deleted in them."""
        return {path: deleted for (path, deleted), count in self.counts.items() if count * sign > 0}


def _feed(actions: list[Action]) -> list[Action]:
    """Of a commit; none where it isn't to be trusted.

    Of an UPDATE delta-rs (1.6.6) tells what differs as sets: rows that become equal to others aren't in it.
    """
    told: Action = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    if str(told.get("engineInfo")).startswith("delta-rs") and told.get("operation") == "UPDATE":
        return []
    return [action["cdc"] for action in actions if "cdc" in action]


def _seen(text: bytes) -> list[int]:
    return [len(text), zlib.crc32(text)]


def _path(table: str, spelled: str) -> str:
    path = unquote(spelled)
    if "://" in path or path.startswith(("/", "file:")):
        raise StateError(f"table {table}: not supported yet: a file in another place, {path}")
    return path


def _spelled(value: object) -> str | None:
    """A partition's value as the log spells it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, Decimal)) or type(value) is date:
        return str(value)
    raise StateError(f"not supported yet: a table partitioned by a {type(value).__name__}")


def _check(name: str, features: Iterable[str], properties: Mapping[str, str | None]) -> None:
    more = set(features) - _FEATURES - _DONE
    if (mode := properties.get(MODE) or MODES[0]) not in MODES:
        more.add(f"column mapping by {mode}")
    if more:
        listed = ", ".join(sorted(more))
        raise StateError(f"table {name}: not supported yet: a Delta table with {listed}; read a copy without")


def _vectors(table: Any) -> dict[str, Numbers]:
    """Of files with deleted rows which they are, as delta-rs reads them."""
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    root, found = unquote(table.table_uri).rstrip("/") + "/", pa.table(table.deletion_vectors())
    return {
        unquote(path).removeprefix(root): Numbers(np.flatnonzero(~np.asarray(there.values, dtype=bool)))
        for path, there in zip(found["filepath"].to_pylist(), found["selection_vector"], strict=True)
    }
