"""The shop that the tests of sources and sinks share."""

from __future__ import annotations

import pytest

from tests.dbsp.pipeline.spark.shop import sell


@pytest.fixture
def shop(tmp_path):
    """Files of two sources, and nothing else yet."""
    (tmp_path / "sales").mkdir()
    (tmp_path / "products").mkdir()
    (tmp_path / "products" / "all.json").write_text('{"id": 1, "name": "a"}\n{"id": 2, "name": "b"}\n')
    for name in ("1", "2"):
        sell(tmp_path, name)
    return tmp_path
