"""What is written is a segment, or nothing."""

from __future__ import annotations

from pathlib import Path

from dbsp.circuits.segments.writing import SegmentWriter


def test_a_writer_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    SegmentWriter(tmp_path, "a.seg").close()
    assert list(tmp_path.iterdir()) == []
