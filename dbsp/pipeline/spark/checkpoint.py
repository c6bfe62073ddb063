"""The checkpoint of a streaming query: which input makes which batch.

Spark renames its files into place and leaves them to the page cache. Were they lost in a power failure that
a commit survived, the batch after the failure would hold other input under the same number, and be skipped as
done. So they reach the disk before a step that they describe is committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dbsp.state.commits import sync


class Checkpoint:
    """root: the directory, which Spark makes and fills."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._synced: set[Path] = set()

    @property
    def stream(self) -> str:
        """The id of the query, the same after a restart."""
        return str(json.loads((self.root / "metadata").read_text())["id"])

    def sync(self) -> None:
        """Put what says which input the planned batches hold on the disk."""
        planned = set(self._planned())
        new = planned - self._synced
        for path in (*new, *{path.parent for path in new}):
            with suppress(FileNotFoundError):  # Spark deletes what is long past, whenever it likes
                sync(path)
        self._synced = planned

    def _planned(self) -> Iterator[Path]:
        yield self.root / "metadata"
        sources = self.root / "sources"
        for directory in (self.root / "offsets", *(sources.iterdir() if sources.exists() else ())):
            yield from (path for path in directory.iterdir() if not path.name.endswith((".tmp", ".tmp.crc")))
