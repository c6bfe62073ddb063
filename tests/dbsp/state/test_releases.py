"""What earlier releases have written is gone on with, to the same changes as if nothing had been renewed."""

from __future__ import annotations

import re
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbsp.circuits.errors import StateError
from dbsp.commands.cli import main
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.records.identity import FORMAT, read_identity
from dbsp.views.view import Contents
from tests.dbsp.state.released import CLOCK, RELEASES, first_steps, opened, program

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


# -- format 1, which nothing can be made of: traces were known by the numbers of that release's circuit -----

REFUSED = Path(__file__).with_name("refused") / "0.0-format-1"
SAID = r"written by an older dbsp \(format 1\), which didn't say .* feed a new state directory the tables"


@pytest.fixture
def unreadable(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REFUSED, tmp_path / "state"))


def content(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != "lock"}


@pytest.mark.parametrize(
    "asked",
    [
        ["query", "STATE", "SELECT * FROM counts"],
        ["changes", "STATE", "counts", "--since", "1"],
        ["tag", "STATE", "here"],
        ["fsck", "STATE"],
        ["fsck", "STATE", "--restore-to", "1"],
        ["backup", "STATE", "OTHER"],
        ["replay", "STATE", "DELTAS", "--from", "1", "--state", "OTHER"],
        ["why", "STATE", "counts", "1"],
    ],
    ids=lambda asked: asked[0],
)
def test_an_unreadable_format_is_refused_by_name(asked: list[str], unreadable: Path, tmp_path: Path) -> None:
    deltas = tmp_path / "deltas.jsonl"
    deltas.write_text('{"step": true}\n')
    before = content(tmp_path)
    places = {"STATE": str(unreadable), "OTHER": str(tmp_path / "other"), "DELTAS": str(deltas)}
    result = CliRunner().invoke(main, [places.get(word, word) for word in asked])
    assert result.exit_code == 1
    assert re.fullmatch(rf".*state: {SAID}.*\n", result.output), result.output
    assert content(tmp_path) == before


def test_nor_is_it_gone_on_with(unreadable: Path) -> None:
    """Nor where the file that says so was lost, and a record can be taken for one of a later format."""
    for lost in (False, True):
        if lost:
            (unreadable / "program.json").unlink()
        before = content(unreadable)
        for evolve in (False, True):
            with pytest.raises(StateError, match=SAID if not (lost and evolve) else "no state directory"):
                Pipeline(program(), runner="inline", state=unreadable, evolve=evolve)
        assert content(unreadable) == before
