"""The checkpoint of a stream that no query of Spark's plans, as Spark would have written it.

    metadata           the id of the stream
    sources/i/0        where the source began
    offsets/n          where each source is after batch n; `-` before it has begun

So a run may be Spark's and the next one this project's, or the other way round: each goes on where the last
commit's batch ended. As Spark does, it keeps the last hundred batches, which a state that goes back needs.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dbsp.circuits.disk import disk
from dbsp.pipeline.spark.direct.spans import Place, beginning, places_of, spelled
from dbsp.pipeline.spark.planned import end_of_batch

_KEPT = 100


@dataclass(frozen=True)
class OffsetLog:
    """root: of the checkpoint. sources: how many there are."""

    root: Path
    sources: int

    def open(self) -> None:
        """Give the stream an id, unless it has one."""
        metadata = self.root / "metadata"
        with disk(self.root):
            if not metadata.exists():
                self.root.mkdir(parents=True, exist_ok=True)
                _write(metadata, json.dumps({"id": str(uuid.uuid4())}))

    def ends(self, source: int, batch: int) -> dict[Place, int] | None:
        """Where a source was after a batch, which may be −1; None: it hadn't begun."""
        with disk(self.root):
            end = end_of_batch(self.root, source, batch) if batch >= 0 else None
            if end is not None:
                return dict(places_of(end))
            began = (self.root / "sources" / str(source) / "0").exists()
            return dict(places_of(beginning(self.root, source))) if began else None

    def begin(self, source: int, places: Mapping[Place, int]) -> None:
        """Where a source begins, unless that is said."""
        path = self.root / "sources" / str(source) / "0"
        with disk(self.root):
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, f"\0v1\n{spelled(places)}")

    def write(self, batch: int, ends: Sequence[Mapping[Place, int] | None]) -> None:
        """Where the sources are after a batch."""
        assert len(ends) == self.sources
        clock = {"batchWatermarkMs": 0, "batchTimestampMs": time.time_ns() // 1_000_000, "conf": {}}
        lines = ["v1", json.dumps(clock), *("-" if end is None else spelled(end) for end in ends)]
        folder = self.root / "offsets"
        with disk(self.root):
            folder.mkdir(exist_ok=True)
            _write(folder / str(batch), "\n".join(lines))
            with suppress(FileNotFoundError):
                (folder / str(batch - _KEPT)).unlink()


def _write(path: Path, text: str) -> None:
    """A reader finds all of it or nothing."""
    partial = path.with_name(f".{path.name}.tmp")
    partial.write_text(text)
    os.replace(partial, path)
