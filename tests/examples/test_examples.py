"""Every example prints what its `expected.jsonl` says, however it is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*/expected.jsonl"))


def step(expected: Path, *options: str) -> tuple[int, str]:
    """Exit status and output of `dbsp step --expect` on an example."""
    (deltas,) = expected.parent.glob("deltas.*")
    program = expected.parent / "program.sql"
    result = CliRunner().invoke(
        main, ["step", str(program), str(deltas), "--expect", str(expected), *options]
    )
    return result.exit_code, result.output


@pytest.mark.spark
@pytest.mark.parametrize("partitions", ["1", "3"])
@pytest.mark.parametrize("expected", PROGRAMS, ids=lambda path: path.parent.name)
def test_an_example_gives_what_is_expected(expected, partitions):
    assert step(expected, "--runner", "inline", "--partitions", partitions) == (0, "")


@pytest.mark.spark
def test_a_difference_is_shown(tmp_path):
    expected = tmp_path / "expected.jsonl"
    votes = EXAMPLES / "votes"
    for name in ("program.sql", "deltas.sql"):
        (tmp_path / name).write_text((votes / name).read_text())
    expected.write_text((votes / "expected.jsonl").read_text().replace('"vcount": 2', '"vcount": 3', 1))
    status, output = step(expected, "--runner", "inline")
    assert status == 3
    assert '-{"step": 1, "view": "stories_vc", "row": {"story_id": 1, "vcount": 3}, "weight": 1}' in output
    assert '+{"step": 1, "view": "stories_vc", "row": {"story_id": 1, "vcount": 2}, "weight": 1}' in output


def test_every_example_is_complete():
    directories = {path.parent for path in EXAMPLES.glob("*/program.sql")} - {EXAMPLES / "auction"}
    assert directories == {path.parent for path in PROGRAMS}
    assert len(directories) >= 4
