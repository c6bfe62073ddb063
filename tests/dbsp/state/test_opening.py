"""A task opens the segments that the driver has, by their place alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.lock import Lock
from dbsp.state.opening import only_writer, open_segments, segments_at
from dbsp.state.records.places import place_of


def test_of_a_directory(tmp_path: Path) -> None:
    segments = open_segments(tmp_path)
    assert (segments.root, segments.origin) == (str(tmp_path / "segments"), None)
    assert segments_at(segments.place).root == segments.root
    lock = only_writer(tmp_path)
    assert isinstance(lock, Lock)
    with pytest.raises(StateError, match="in use"):
        only_writer(tmp_path)
    lock.close()


def test_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBSP_CACHE", str(tmp_path))
    segments = open_segments(place_of("s3://bucket/state"))
    assert segments.place == "s3://bucket/state"
    assert segments_at(segments.place).root == segments.root
    assert Path(segments.root).parent == tmp_path
    elsewhere = open_segments(place_of("s3://bucket/state"), copied=tmp_path / "other")
    assert Path(elsewhere.root).parent == tmp_path / "other"
    assert elsewhere.place == segments.place
