"""The rule of what is kept: read, remembered, refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from dbsp.circuits.errors import Error, StateError
from dbsp.state.keeping.keep import NAME, STEPS, Keep, read_keep, span_of, write_keep
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, filled


def test_what_a_caller_asks_for() -> None:
    assert Keep.of(None, None) is None
    assert Keep.of(3, None) == Keep(3)
    assert Keep.of(None, "7d") == Keep(STEPS, timedelta(days=7))
    assert Keep.of(1, timedelta(hours=1)) == Keep(1, timedelta(hours=1))
    assert Keep(3).at_least(5) == Keep(5)


@pytest.mark.parametrize(
    ("text", "span"),
    [("90s", timedelta(seconds=90)), (" 1.5 H", timedelta(minutes=90)), ("2w", timedelta(weeks=2))],
)
def test_a_span(text: str, span: timedelta) -> None:
    assert span_of(text) == span


@pytest.mark.parametrize(
    ("steps", "span"),
    [
        (0, None),
        (None, "7"),
        (None, "-1d"),
        (None, "1y"),
        (None, "0s"),
        (None, timedelta(0)),
        (1, "9" * 30 + "w"),
    ],
)
def test_what_is_none(steps: int | None, span: timedelta | str | None) -> None:
    with pytest.raises(Error, match=r"use 1 or more|write it as 7d, 12h or 30m"):
        Keep.of(steps, span)


def test_the_directory_remembers(tmp_path: Path) -> None:
    assert read_keep(tmp_path) == Keep()
    filled(tmp_path, 5, Keep(3, timedelta(minutes=5))).close()
    assert read_keep(tmp_path) == Keep(3, timedelta(minutes=5))
    store = Store.open(tmp_path, IDENTITY, at_least=4)
    assert store.keep == Keep(4, timedelta(minutes=5))
    store.close()
    assert read_keep(tmp_path) == Keep(3, timedelta(minutes=5))
    write_keep(tmp_path, Keep(2), durable=False)
    with_two = Store.open(tmp_path, IDENTITY)
    assert with_two.steps == [4, 5]


def test_damage_is_told(tmp_path: Path) -> None:
    write_keep(tmp_path, Keep(3), durable=False)
    (tmp_path / NAME).write_bytes((tmp_path / NAME).read_bytes().replace(b"3", b"4"))
    with pytest.raises(StateError, match=r"keep.json: damaged: .*--keep-steps and --keep-for"):
        read_keep(tmp_path)
