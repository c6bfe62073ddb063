"""The checkpoint of a streaming query whose state is on a store.

Spark has it in a directory of this process. What a batch needs is sent beside the step, before its commit: an
object per file, named by its content, `checkpoint/offsets/7.<digest>`. So whatever another writer plans under
the same number, the digests in a commit say which objects are its own; and a query that starts again finds in
its directory what the last commit says, and nothing else.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import rmtree

from dbsp.circuits.disk import disk
from dbsp.pipeline.spark.checkpoints.checkpoint import Checkpoint
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.batch_files import object_name, recorded, whole_file
from dbsp.state.records.commits import CHECKPOINT, Commit
from dbsp.state.records.places import Place


def checkpoint_of(root: Place, folder: str) -> Checkpoint:
    """Of the state at `root`. folder: of a directory; on a store files are known by their content."""
    return CheckpointOnStore(root) if isinstance(root, ObjectPath) else Checkpoint(root / folder)


class CheckpointOnStore(Checkpoint):
    """state: where it is. Its directory goes with the object."""

    def __init__(self, state: ObjectPath) -> None:
        directory = tempfile.mkdtemp(prefix="dbsp-checkpoint-")
        weakref.finalize(self, rmtree, directory, ignore_errors=True)
        super().__init__(Path(directory))
        self._objects = state / CHECKPOINT
        # what is known to be there, of the last commit or sent; and of that what no record refers to yet
        self._kept: frozenset[str] = frozenset()
        self._planned: frozenset[str] = frozenset()
        # what else was there when the run began
        self._found: frozenset[str] = frozenset()

    def record(self, durable: bool) -> dict[str, str]:
        """durable: they are sent in any case."""
        digests = super().record(durable=False)
        names = {object_name(path, digest): path for path, digest in digests.items()}
        with disk(self._objects):
            for name in sorted(names.keys() - self._kept):
                (self._objects / name).put((self.root / names[name]).read_bytes())
        self._planned = frozenset(names)
        self._kept |= self._planned
        return digests

    def settle(self, last: Commit | None) -> None:
        with disk(self._objects):
            self._found = frozenset(self._objects.all_names())
        with disk(self.root):
            rmtree(self.root, ignore_errors=True)
            if last is None or last.batch is None:
                return
            for path, data in self._files(last):
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                (self.root / path).write_bytes(data)
        self._kept = frozenset(object_name(path, digest) for path, digest in recorded(last).items())

    def check(self, last: Commit) -> None:
        for _ in self._files(last):
            pass

    def sweep(self, commits: Iterable[Commit]) -> None:
        """Delete what none of the kept commits needs, of what was found or sent. Raises StateError.

        After a commit of the run: that fails where another writer has made one since the run began. Who
        slept through its lease after that commit has never heard of what its successor sends.
        """
        needed = {
            object_name(path, digest) for commit in commits for path, digest in recorded(commit).items()
        }
        expired = (self._found | self._kept) - needed - self._planned
        with disk(self._objects):
            self._objects.remove(expired)
        self._found -= expired
        self._kept -= expired

    def _files(self, commit: Commit) -> Iterator[tuple[str, bytes]]:
        """(path, content). Raises StateError for one that isn't as it was."""
        for path, digest in recorded(commit).items():
            found = self._objects / object_name(path, digest)
            yield path, whole_file(found, digest, self._objects.parent, commit.step)
