"""What once was wrong: a program, its deltas and the changelog, as a person has read and agreed to it.

A case is a directory of tests/cases with program.sql, deltas.jsonl and changelog.jsonl. To make the last:
dbsp step program.sql deltas.jsonl --runner inline --output json --accept changelog.jsonl
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbsp.commands.replays.files import queue
from dbsp.commands.replays.json_lines import read_json
from dbsp.commands.shown.changelog import json_lines
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program
from tests.laws.laws import PLAIN, WAYS, Case, Running

pytestmark = pytest.mark.spark

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/program.sql"))


@pytest.mark.parametrize("way", ["plain", *WAYS])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(spark: Any, case: Path, way: str) -> None:
    compiled = compile_program((case / "program.sql").read_text(), session=spark)
    lines = (case / "deltas.jsonl").read_text().splitlines()
    found: list[str] = []
    with Running(Case(Program((), ()), compiled), WAYS.get(way, PLAIN)) as running:
        for step in read_json(lines, "deltas.jsonl", compiled):
            running.reopen()
            queue(running.pipeline, step)
            found += json_lines(running.pipeline.step(clock=step.clock))
    assert found == (case / "changelog.jsonl").read_text().splitlines()
