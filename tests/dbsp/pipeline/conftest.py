"""A pipeline of the votes, in a directory of its own."""

from __future__ import annotations

import pytest

from tests.dbsp.build import pipeline
from tests.dbsp.pipeline.spark.shop import sell


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


@pytest.fixture
def shop(tmp_path):
    """Files of two sources, and nothing else yet."""
    (tmp_path / "sales").mkdir()
    (tmp_path / "products").mkdir()
    (tmp_path / "products" / "all.json").write_text('{"id": 1, "name": "a"}\n{"id": 2, "name": "b"}\n')
    for name in ("1", "2"):
        sell(tmp_path, name)
    return tmp_path
