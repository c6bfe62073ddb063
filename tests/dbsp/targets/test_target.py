"""Every target is one: what a step's changes are written to, whatever stands behind it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from dbsp.targets.function import FunctionTarget
from dbsp.targets.postgres.target import Postgres
from dbsp.targets.target import Target

MEMBERS = {name for name in vars(Target) if not name.startswith("_")}


@pytest.mark.parametrize("kind", [FunctionTarget, Postgres])
def test_it_answers_all_that_is_asked(kind: Any) -> None:
    assert {"directory", "write", "why", "close"} == MEMBERS
    assert {name for name in MEMBERS if hasattr(kind, name)} == MEMBERS
    for name in ("write", "why", "close"):
        asked = [*inspect.signature(getattr(Target, name)).parameters]
        assert [*inspect.signature(getattr(kind, name)).parameters] == asked
