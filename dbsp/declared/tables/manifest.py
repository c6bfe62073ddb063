"""What a table's directory holds, as far as this state has written it.

NAME.json        the step that the files are of, and the files
NAME.next.json   the same of a step that is being written: files that are there, but hidden, and what goes

A step is written when its `next` is on the disk: whoever comes next does what is left of it, which may be
done twice. Names are on the disk before a record counts on them: those of hidden files before the `next`,
what became of them before it goes. Readers skip names that begin with a dot, as Spark and Hive do.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dbsp.circuits.disk import disk
from dbsp.declared.tables.indexes import Indexes
from dbsp.state.records.commits import sync, write_whole
from dbsp.state.records.places import Place
from dbsp.state.records.sealed import read_sealed, seal

HIDDEN = ".dbsp-"
SPARKS_LOG = "_spark_metadata"
_KIND = "table of a pipeline"
_ADVICE = "restore it, or delete it, and the table is written anew"


@dataclass(frozen=True)
class DataFile:
    """path: below the table's directory. size: in bytes."""

    path: str
    rows: int
    size: int


@dataclass(frozen=True)
class Held:
    """files: of the table, as of the step. added: those of them that are still hidden. removed: what goes.

    writer: the state's name. columns: of the rows. seconds: what the table's last full refresh took. version:
    of a log that the table has, the entry that is the step's. moved: whether directories came or went, and
    the catalogue hasn't been told.
    """

    step: int = 0
    writer: str = ""
    files: tuple[DataFile, ...] = ()
    columns: str = ""
    seconds: float = 0.0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    version: int = -1
    moved: bool = False

    @property
    def rows(self) -> int:
        """Of all files."""
        return sum(file.rows for file in self.files)


@dataclass
class Manifest:
    """folder: of the records. name: of the table's. directory: of the table's files, once that is known."""

    folder: Place
    name: str
    directory: Path = Path()
    held: Held = field(default_factory=Held)

    @property
    def place(self) -> str:
        """Of the table, for people."""
        return str(self.directory)

    @property
    def is_there(self) -> bool:
        """Whether a step has written the table, or begun to."""
        return self._path.exists() or self._next.exists()

    def open(self, directory: Path) -> None:
        """What the directory holds; what a step has begun is done. Raises StateError."""
        self.directory = directory
        with disk(self.folder):
            if isinstance(self.folder, Path):
                self.folder.mkdir(parents=True, exist_ok=True)
            self._make()
        self.held = self._recorded(self._path) or Held()
        self.check_features()
        begun = self._recorded(self._next)
        if begun is None:
            return
        if self._goes_on(begun):
            self._finish(begun)
        with disk(self._next):
            self._next.unlink(missing_ok=True)

    @property
    def is_untold(self) -> bool:
        """Whether the catalogue is to be told of directories, which a run may have died before."""
        return self.held.moved

    def told(self) -> None:
        """It has been."""
        if self.held.moved:
            self.held = replace(self.held, moved=False)
            with disk(self.folder):
                write_whole(self._path, seal(_KIND, asdict(self.held)))

    @property
    def indexes(self) -> Indexes:
        """What is known of its files' rows."""
        return Indexes(self.folder / f"{self.name}.rows")

    def there(self) -> Sequence[str]:
        """The files that readers see, whoever has written them."""
        return data_files(self.directory)

    def is_filled(self) -> bool:
        """Whether there are rows that would be lost if it were written anew."""
        return (self.directory / SPARKS_LOG).exists() or bool(self.there())

    def writing(self) -> AbstractContextManager[None]:
        """Around a step's writing: what fails in it is a StateError."""
        return disk(self.directory)

    def begin_anew(self) -> None:
        """The table is to have no file that it has now."""
        # by it Spark would read no file that isn't one of its own stream's
        shutil.rmtree(self.directory / SPARKS_LOG, ignore_errors=True)

    def add(self, folder: str, rows: pa.RecordBatch) -> DataFile:
        """A file of these rows, which readers don't see before it is in a step."""
        name = f"part-{secrets.token_hex(8)}.snappy.parquet"
        path = f"{folder}/{name}" if folder else name
        place = hidden(self.directory / path)
        place.parent.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_batches([rows])
        pq.write_table(table, place, compression="snappy", store_schema=False)
        return DataFile(path, rows.num_rows, place.stat().st_size)

    def read(self, path: str) -> pa.Table:
        """The columns that a file has."""
        place = self.directory / path
        return pq.ParquetFile(hidden(place) if hidden(place).exists() else place).read()

    def discard(self, path: str) -> None:
        """A file that was added, and is in no step."""
        hidden(self.directory / path).unlink()

    def is_untouched(self) -> bool:
        """Whether the directory has the files that were written, and no others."""
        there = {file: os.stat(self.directory / file).st_size for file in data_files(self.directory)}
        return there == {file.path: file.size for file in self.held.files}

    def write(self, held: Held) -> None:
        """Make it true. Its added files are there under their hidden names."""
        with disk(self.directory):
            for file in held.added:
                sync(hidden(self.directory / file))
            self._sync_names(held.added)
            self._begin(held)
            self._finish(held)

    def _make(self) -> None:
        """Where its files are to be."""
        self.directory.mkdir(parents=True, exist_ok=True)

    def _begin(self, held: Held) -> None:
        write_whole(self._next, seal(_KIND, asdict(held)))

    def _keep(self, held: Held) -> None:
        """The step is written."""
        self.held = replace(held, added=(), removed=())
        write_whole(self._path, seal(_KIND, asdict(self.held)))
        self._next.unlink(missing_ok=True)

    def _finish(self, held: Held) -> None:
        with disk(self.directory):
            for file in held.added:
                path = self.directory / file
                if hidden(path).exists():
                    hidden(path).rename(path)
            self._take_out(held)
            self._keep(held)
            _discard_hidden(self.directory)

    def check_features(self) -> None:
        """Raises StateError for a table that asks more of its writers than is done here."""

    def _goes_on(self, begun: Held) -> bool:
        """Whether a step that a run has begun can be the table's."""
        return True

    def _take_out(self, held: Held) -> None:
        """The files that go, once those are there that come."""
        for file in held.removed:
            (self.directory / file).unlink(missing_ok=True)
        self._sync_names((*held.added, *held.removed))

    def _sync_names(self, files: Iterable[str]) -> None:
        """In the folders of these files, up to the table's."""
        below = {parent for file in files for parent in Path(file).parents}
        for folder in sorted(below, reverse=True):
            if (self.directory / folder).exists():
                sync(self.directory / folder)

    def _recorded(self, path: Place) -> Held | None:
        record = read_sealed(_KIND, path, _ADVICE)
        if record is None:
            return None
        assert isinstance(record, dict)
        files = tuple(DataFile(**file) for file in record.pop("files"))
        added, removed = tuple(record.pop("added")), tuple(record.pop("removed"))
        return Held(**record, files=files, added=added, removed=removed)

    @property
    def _path(self) -> Place:
        return self.folder / f"{self.name}.json"

    @property
    def _next(self) -> Place:
        return self.folder / f"{self.name}.next.json"


def hidden(path: Path) -> Path:
    """The name of a file until its step is written."""
    return path.with_name(HIDDEN + path.name)


def data_files(directory: Path) -> Sequence[str]:
    """Those that readers of the table see, below its directory."""
    found = []
    for folder, folders, files in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith((".", "_")) or _is_partition(name)]
        found += [
            str(Path(folder, name).relative_to(directory))
            for name in files
            if not name.startswith((".", "_"))
        ]
    return sorted(found)


def _is_partition(folder: str) -> bool:
    """`_day=1` is of the column `_day`, whose rows Spark reads."""
    return folder.startswith("_") and "=" in folder


def _discard_hidden(directory: Path) -> None:
    """What a try has left that was never a step."""
    for path in directory.rglob(HIDDEN + "*"):
        path.unlink(missing_ok=True)
