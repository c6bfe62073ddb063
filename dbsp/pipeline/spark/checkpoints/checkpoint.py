"""The checkpoint of a streaming query: which input makes which batch.

Spark renames its files into place and leaves them to the page cache. Were they lost in a power failure that
a commit survived, the batch after the failure would hold other input under the same number, and be skipped
as done. So what a batch needs reaches the disk before its step is committed, and the commit keeps a digest
of it.

Our commit says which batch is the last. Before a query starts, whatever belongs to a later batch is
dropped: the state doesn't hold it, so it is planned anew, and a power failure may have left it empty, at
which Spark stops for ever. So is Spark's own list of batches that are done: it repeats what our commits
say. The last batch is then run once more, and skipped. What the commit does have a digest of must be as it
was.

A query that starts again reads: `metadata`; the last two of `offsets/`; of each source's log the last
compact file, which repeats all before it, and those after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.state.records.batch_files import digest_of, recorded, whole_file
from dbsp.state.records.commits import CHECKPOINT, Commit, sync
from dbsp.state.store import Store

_COMPACT = ".compact"


class Checkpoint:
    """root: the directory, which Spark makes and fills."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._digests: dict[str, str] = {}

    @property
    def stream(self) -> str:
        """The id of the query, the same after a restart."""
        with disk(self.root):
            return str(json.loads((self.root / "metadata").read_text())["id"])

    def record(self, durable: bool) -> dict[str, str]:
        """Digests of the files that the planned batches need, by path; durable: once they are on disk."""
        with disk(self.root):
            needed = list(self._needed())
            new = [path for path in needed if path not in self._digests]
            if durable:
                for path in (*new, *{str(Path(path).parent) for path in new}):
                    sync(self.root / path)
            known = {**self._digests, **{path: _digest(self.root / path) for path in new}}
        self._digests = {path: known[path] for path in needed}
        return self._digests

    def settle(self, last: Commit | None) -> None:
        """Make it what the state's last commit says it was. Raises StateError where that can't be."""
        with disk(self.root):
            if last is None or last.batch is None:
                rmtree(self.root, ignore_errors=True)  # the state holds nothing of it
                return
            self.check(last)
            for path in self._beyond(last):
                path.unlink(missing_ok=True)

    def sweep(self, commits: Iterable[Commit]) -> None:
        """Spark deletes by itself what no batch needs any more."""

    def check(self, last: Commit) -> None:
        """Raises StateError unless all files that the commit's batch needs are as they were."""
        for name, digest in recorded(last).items():
            whole_file(self.root / name, digest, self.root.parent, last.step)

    def _needed(self) -> Iterator[str]:
        yield "metadata"
        yield from self._last_of("offsets", 2)
        for log in self._logs():
            numbers = _numbers(self.root / log)
            compact = max((n for n, name in numbers.items() if name.endswith(_COMPACT)), default=-1)
            yield from (f"{log}/{name}" for n, name in sorted(numbers.items()) if n >= compact)

    def _last_of(self, directory: str, count: int) -> list[str]:
        numbers = _numbers(self.root / directory)
        return [f"{directory}/{numbers[n]}" for n in sorted(numbers)[-count:]]

    def _logs(self) -> list[str]:
        """The directories of the sources."""
        sources = self.root / "sources"
        return sorted(f"sources/{each.name}" for each in sources.iterdir()) if sources.exists() else []

    def _beyond(self, last: Commit) -> Iterator[Path]:
        """Files of batches after the last one, Spark's list of what is done, and its own checksums of all."""
        kept = recorded(last)
        for directory in ("offsets", *self._logs()):
            greatest = max(
                (_number(Path(name).name) for name in kept if name.startswith(f"{directory}/")), default=-1
            )
            numbers = _numbers(self.root / directory)
            yield from (self.root / directory / name for n, name in numbers.items() if n > greatest)
        yield from (path for path in (self.root / "commits").glob("*") if path.is_file())
        yield from self.root.rglob(".*.crc")
        yield from self.root.rglob(".*.tmp")


def drop_others(store: Store) -> None:
    """Delete the checkpoints of programs before this one that no kept step refers to any more."""
    if not isinstance(store.root, Path):
        return
    folders = [path for path in store.root.glob(f"{CHECKPOINT}*") if path.is_dir()]
    if len(folders) > 1:
        with suppress(StateError):  # a damaged record may need any of them
            needed = {store.commit_of(step).checkpoint for step in store.steps}
            for path in folders:
                if path.name not in needed:
                    rmtree(path, ignore_errors=True)


def _numbers(directory: Path) -> dict[int, str]:
    """The files of a log that Spark reads, by their numbers."""
    with suppress(FileNotFoundError):
        names: Iterable[str] = [path.name for path in directory.iterdir()]
        return {_number(name): name for name in names if _number(name) >= 0}
    return {}


def _number(name: str) -> int:
    stem = name.removesuffix(_COMPACT)
    return int(stem) if stem.isdigit() else -1


def _digest(path: Path) -> str:
    return digest_of(path.read_bytes())
