"""What earlier releases have written is gone on with, to the same changes as if nothing had been renewed."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbsp.state.records.identity import FORMAT, read_identity
from dbsp.views.view import Contents
from tests.dbsp.state.released import CLOCK, RELEASES, first_steps, opened

WRITTEN = sorted(RELEASES.iterdir())


@pytest.fixture(params=WRITTEN, ids=lambda path: path.name)
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(request.param, tmp_path / "state"))


def tuples(view: Contents) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in view.rows()}


def test_its_views_are_read(earlier: Path) -> None:
    with opened(earlier) as p:
        assert p.last_step == 2 and p.clock == CLOCK
        assert tuples(p["counts"]) == {(1, 3), (None, 1)}
        assert tuples(p["customers"]) == {(7, "b", CLOCK), (8, None, None)}
        assert tuples(p["events"]) == {(1, Decimal("12.50"))}
        assert tuples(p.view("counts", as_of=1)) == {(1, 2), (2, 1), (None, 1)}


def test_it_goes_on_as_what_is_written_now(earlier: Path, tmp_path: Path) -> None:
    with opened(earlier) as p, opened(tmp_path / "now") as now:
        first_steps(now)
        for pipeline in (p, now):
            pipeline.insert("votes", [(6, 2)])
            pipeline.delete("votes", [(1, 1), (4, None)])
            pipeline.delete("customer", [{"id": 7}])
        made, expected = p.step(CLOCK), now.step(CLOCK)
        for view in p:
            assert made[view].rows() == expected[view].rows()
            assert p[view].rows() == now[view].rows()
        assert tuples(p["counts"]) == {(1, 2), (2, 1)}


def test_it_is_of_this_format_from_its_next_step_on(earlier: Path) -> None:
    """An older release then says that it can't read it; reading it here changes nothing."""
    written = {path: path.read_bytes() for path in (earlier / "program.json", earlier / "commits" / "last")}
    with opened(earlier) as p:
        assert {path: path.read_bytes() for path in written} == written
        p.insert("votes", [(6, 2)])
        p.step(CLOCK)
        assert p.store.last is not None and p.store.last.format == FORMAT
    identity = read_identity(earlier)
    assert identity is not None and identity.format == FORMAT
    with opened(earlier) as p:
        assert tuples(p["counts"]) == {(1, 3), (2, 1), (None, 1)}


def test_this_format_is_among_them() -> None:
    """A new format comes with a directory: `python -m tests.dbsp.state.released NAME`."""
    assert any(path.name.endswith(f"-format-{FORMAT}") for path in WRITTEN)
