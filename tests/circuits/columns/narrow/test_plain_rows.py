"""What was made plain last is kept, up to a number of bytes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.columns.narrow import plain_rows
from dbsp.circuits.columns.narrow.plain_rows import PlainRows


def test_the_last_are_kept_up_to_a_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    one = pa.record_batch([pa.array(range(10), pa.int64())], ["n"])
    monkeypatch.setattr(plain_rows, "BYTES", 2 * one.nbytes)
    kept, made = PlainRows(), list[str]()

    def ask(chunk: str, rows: pa.RecordBatch = one) -> pa.RecordBatch:
        def make() -> pa.RecordBatch:
            made.append(chunk)
            return rows

        return kept.of(f"of {chunk}", chunk, make)

    for chunk in ("a", "b", "a", "c", "a"):  # of three b was asked for first
        assert ask(chunk).equals(one)
    assert (made, kept.segments) == (["a", "b", "c"], {"of a", "of c"})
    kept.forget({"of a", "of b"})
    assert (ask("a").equals(one), made) == (True, ["a", "b", "c", "a"])
    large = pa.concat_batches([one] * 3)
    assert ask("large", large).equals(large) and kept.segments == {"of a", "of c"}
