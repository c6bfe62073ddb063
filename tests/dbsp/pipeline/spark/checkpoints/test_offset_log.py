"""A checkpoint that is written here is one of Spark's; that both go on from each other's: `test_reading`."""

from __future__ import annotations

from pathlib import Path

from dbsp.pipeline.spark.checkpoints.checkpoint import Checkpoint
from dbsp.pipeline.spark.checkpoints.offset_log import OffsetLog
from dbsp.pipeline.spark.direct.spans import Span, planned_spans


def test_what_is_written_is_read(tmp_path: Path) -> None:
    log, checkpoint = OffsetLog(tmp_path / "c", 2), Checkpoint(tmp_path / "c")
    log.open()
    stream = checkpoint.stream
    log.open()
    assert checkpoint.stream == stream
    assert log.ends(0, -1) is None
    log.begin(0, {("t", 0): 5, ("t", 1): 0})
    assert log.ends(0, -1) == {("t", 0): 5, ("t", 1): 0}
    log.begin(0, {("t", 0): 9})  # it has begun
    log.write(0, [{("t", 0): 7, ("t", 1): 0}, None])
    assert (log.ends(0, 0), log.ends(1, 0)) == ({("t", 0): 7, ("t", 1): 0}, None)
    log.begin(1, {("u", 0): 1})
    log.write(1, [{("t", 0): 7, ("t", 1): 3, ("t", 2): 2}, {("u", 0): 2}])
    assert planned_spans(checkpoint.root, 0, 0) == [Span("t", 0, 5, 7)]
    assert planned_spans(checkpoint.root, 0, 1) == [Span("t", 1, 0, 3), Span("t", 2, 0, 2)]
    assert planned_spans(checkpoint.root, 1, 1) == [Span("u", 0, 1, 2)]
    assert {*checkpoint.record(durable=True)} == {
        *("metadata", "offsets/0", "offsets/1", "sources/0/0", "sources/1/0")
    }


def test_what_no_kept_step_needs_goes(tmp_path: Path) -> None:
    log = OffsetLog(tmp_path, 1)
    for batch in range(103):
        log.write(batch, [{("t", 0): batch}])
    assert sorted(int(path.name) for path in (tmp_path / "offsets").iterdir()) == [*range(3, 103)]
