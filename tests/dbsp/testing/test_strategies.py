"""Random deltas as hypothesis draws and shrinks them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, find, given, settings

from dbsp.testing.contents import Contents
from dbsp.testing.deltas import Deltas
from dbsp.testing.strategies import deltas_of
from tests.dbsp.testing.test_deltas import PROGRAM


@given(deltas_of(PROGRAM))
def test_they_are_legal(deltas):
    contents = Contents(PROGRAM)
    assert 1 <= len(deltas) <= 5
    for step in deltas:
        assert contents.legal(step) == step
        contents.apply(step)


@pytest.mark.slow
def test_what_fails_is_shrunk():
    def takes_back(deltas: Deltas) -> bool:
        changes = [change for step in deltas for change in step.changes.get("bag", [])]
        return any(change.weight < 0 for change in changes)

    calm = settings(max_examples=500, derandomize=True, suppress_health_check=list(HealthCheck))
    smallest = find(deltas_of(PROGRAM), takes_back, settings=calm)
    assert sum(len(changes) for step in smallest for changes in step.changes.values()) <= 4
