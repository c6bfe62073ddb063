"""Killed at any rename, a run that is started again ends where one that was never killed does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import pipeline

STEPS = 4


def feed(p: Pipeline) -> None:
    """The rest of the steps; each is a function of its number."""
    for step in range(p.last_step + 1, STEPS + 1):
        p.insert("votes", [(user, user % step) for user in range(10)])
        if step > 1:
            p.delete("votes", [(user, user % (step - 1)) for user in range(5)])
        p.upsert("customer", [{"id": step % 3, "name": f"{step}"}])
        p.insert("event", [(step, None)])
        p.step()


def run_and_die(state: str, renames: int) -> None:
    """Feed, and die at that rename."""
    rename = os.replace

    def replace(*paths):
        nonlocal renames
        renames -= 1
        if renames < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*paths)

    os.replace = replace
    with pipeline(Path(state)) as p:
        feed(p)


@pytest.mark.parametrize("renames", [0, 1, 2, 3, 4])
def test_a_run_that_is_killed_again_and_again(tmp_path, renames):
    script = (
        f"from tests.dbsp.state.test_kill import run_and_die; run_and_die({str(tmp_path / 's')!r}, {renames})"
    )
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False, capture_output=True
        )
        assert ran.returncode in (0, -signal.SIGKILL), ran.stderr.decode()
    with pipeline(tmp_path / "s") as killed, pipeline() as whole:
        feed(killed)
        feed(whole)
        for view in ("all_votes", "counts", "customers", "events"):
            assert killed[view].rows() == whole[view].rows()
            for step in range(1, STEPS + 1):
                assert killed.changes_of(view, step).rows() == whole.changes_of(view, step).rows()
        needed = {name for step in killed.store.steps for name in killed.store.commit_of(step).segments}
        assert set(os.listdir(killed.store.root / "segments")) == needed
