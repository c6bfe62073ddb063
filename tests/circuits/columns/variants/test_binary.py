"""Numbers take the bytes that Spark's do."""

from __future__ import annotations

from dbsp.circuits.columns.variants.binary import width


def test_width() -> None:
    assert [width(n) for n in (0, 255, 256, 65535, 65536, 2**24 - 1, 2**24)] == [1, 1, 2, 2, 3, 3, 4]
