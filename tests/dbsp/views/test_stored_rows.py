"""Rows of narrow chunks are those that were given, whoever asks; what is kept of them is bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.columns.narrow import plain_rows
from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.stored_rows import StoredRows

PROGRAM = """
CREATE TABLE given (id BIGINT PRIMARY KEY, word STRING, n INT);
CREATE VIEW held AS SELECT word, n, id FROM given;
"""
ROWS = 20_000


@pytest.fixture
def pipeline(tmp_path: Path):
    with Pipeline(sql=PROGRAM, state=tmp_path / "state", runner="inline") as p:
        given = {"id": np.arange(ROWS), "word": ["one", "two"] * (ROWS // 2), "n": [None, 7] * (ROWS // 2)}
        p.insert("given", pa.table(given))
        p.step()
        yield p


def test_rows_columns_and_places_agree(pipeline: Pipeline) -> None:
    for part in pipeline["held"].parts:
        assert isinstance(part, StoredRows) and part._stored.is_narrow and len(part) == ROWS
        rows, at = part.rows, np.array([3, 0, ROWS - 1])
        assert rows.schema == part.schema
        assert part.take(at).rows.equals(rows.take(pa.array(at)))
        assert all(part.column(i).equals(rows.column(i)) for i in range(rows.num_columns))
        assert (part.weights == 1).all() and (part.take(at).weights == 1).all()
        by_id = {row["id"]: (row["word"], row["n"]) for row in rows.to_pylist()}
        assert by_id == {i: ("two", 7) if i % 2 else ("one", None) for i in range(ROWS)}


def test_what_was_made_plain_is_kept_while_it_fits(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    segments = pipeline.store.segments
    (part,) = pipeline["held"].parts
    first = part.rows
    (again,) = pipeline["held"].parts
    assert again.rows.column(0).buffers()[1].address == first.column(0).buffers()[1].address
    kept = segments.plain
    assert kept._bytes == sum(rows.nbytes for rows in kept._kept.values()) > 0
    segments.forget({*segments._files})
    assert not kept._kept and not kept._bytes
    monkeypatch.setattr(plain_rows, "BYTES", 1)
    assert part.rows.equals(first) and not kept._kept
