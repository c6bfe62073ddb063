"""What if: a state as of a step goes on as the pipeline itself would have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces import spine
from dbsp.commands.shown.changelog import json_lines
from dbsp.history.branch import branch
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import STEPS, feed, pipeline, votes_program
from tests.effort import examples

VOTES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=4)


@pytest.fixture(scope="module", autouse=True)
def merged() -> Iterator[None]:
    """Traces merge all the time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SMALL": 1, "PIECE": 4, "FAN_IN": 2, "WIDE": 1 << 40}.items():
            patch.setattr(spine, name, value)
        yield


def stepped(p: Pipeline, votes: list[tuple[int, int]]) -> list[str]:
    p.insert("votes", votes)
    return list(json_lines(p.step()))


@given(
    before=st.lists(VOTES, min_size=1, max_size=5), other=st.lists(VOTES, max_size=4), at=st.integers(1, 5)
)
@examples(6)
def test_it_goes_on_as_if_nothing_else_had_come(
    tmp_path_factory: Any, before: list[Any], other: list[Any], at: int
) -> None:
    root = tmp_path_factory.mktemp("b")
    at = min(at, len(before))
    with pipeline(root / "s") as p, pipeline(root / "straight") as straight:
        for n, votes in enumerate(before):
            stepped(p, votes)
            if n < at:
                stepped(straight, votes)
        there = p["counts"].rows()
        assert branch(root / "s", at, root / "if").fingerprint == p.program.fingerprint
        with pipeline(root / "if") as found:
            assert found.last_step == at
            assert found["counts"].rows() == straight["counts"].rows()
            assert [stepped(found, votes) for votes in other] == [stepped(straight, votes) for votes in other]
            assert found["counts"].rows() == straight["counts"].rows()
        assert p["counts"].rows() == there
        assert not p.store.tags.all()


def test_what_is_refused(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    with pytest.raises(StateError, match=f"step 9 is not kept; steps 1 to {STEPS} are"):
        branch(tmp_path / "s", 9, tmp_path / "if")
    with pytest.raises(StateError, match="is there already; use a new directory"):
        branch(tmp_path / "s", 1, tmp_path / "s")
    with pipeline(tmp_path / "s", program=votes_program("f2"), evolve=True):
        pass
    with pytest.raises(StateError, match="step 2 is of the program before it was changed"):
        branch(tmp_path / "s", 2, tmp_path / "if")
    assert not (tmp_path / "if").exists()
