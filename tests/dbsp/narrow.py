"""Rows are looked up however few a table has, and however many are looked for."""

from __future__ import annotations

import pytest

from dbsp.queries import narrowing


def narrow_all(patch: pytest.MonkeyPatch) -> None:
    for name, value in (("LARGE", 0), ("KEYS", 0), ("TAKEN", 1)):
        patch.setattr(narrowing, name, value)
