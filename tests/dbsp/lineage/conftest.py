"""A pipeline of the votes, in a directory of its own."""

from __future__ import annotations

import pytest

from tests.dbsp.build import pipeline


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened
