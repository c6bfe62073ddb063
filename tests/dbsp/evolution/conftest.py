"""What the tests of this folder have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dbsp.build import feed, pipeline
from tests.dbsp.evolution.changing import OLD


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Of some steps of OLD."""
    with pipeline(tmp_path / "state", program=OLD) as p:
        feed(p)
    return tmp_path / "state"
