"""What a step of a known program imports: that, and no more, is how long it takes to start.

Each module of ours costs about a millisecond, most of it for the methods that `dataclass` writes.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from dbsp.sql.compiler.load import load_program

PROGRAM = """\
CREATE TABLE votes (id BIGINT, candidate STRING);
CREATE VIEW counts AS SELECT candidate, count(*) AS n FROM votes GROUP BY candidate;
"""
DELTAS = '{"table": "votes", "row": {"id": 1, "candidate": "a"}}\n'
STEPPED = '{"step": 1, "view": "counts", "row": {"candidate": "a", "n": 1}, "weight": 1}'

# each with all that is in it
ELSEWHERE = """
    pyspark py4j pandas sqlglot rich duckdb obstore hdfs httpx opentelemetry sqlite3 tomllib email
    importlib.metadata
    dbsp.declared dbsp.dml dbsp.evolution dbsp.lineage dbsp.queries dbsp.serving dbsp.testing
    dbsp.pipeline.deltas.absences dbsp.pipeline.deltas.replacing dbsp.pipeline.sinks dbsp.pipeline.spark.sinks
    dbsp.running.spark.session dbsp.state.objects.cloud dbsp.state.objects.hdfs dbsp.state.objects.copies
    dbsp.pipeline.own_targets dbsp.targets.reading dbsp.views.derivation dbsp.views.explained
    dbsp.sql.catalyst dbsp.sql.compiler.compile dbsp.sql.lowering dbsp.sql.rules dbsp.sql.spellings
    dbsp.sql.text.statements dbsp.sql.text.tokens
    dbsp.sql.plans.identity dbsp.sql.plans.nodes.join dbsp.sql.plans.nodes.window
    dbsp.circuits.functions.library dbsp.circuits.functions.spark.process dbsp.circuits.functions.times
    dbsp.circuits.operators.clock dbsp.circuits.operators.emission.trigger dbsp.circuits.operators.generate
    dbsp.circuits.operators.groups.aggregates.sums dbsp.circuits.operators.groups.window
    dbsp.circuits.operators.inputs.rules dbsp.circuits.operators.joins dbsp.circuits.operators.recursion
    dbsp.circuits.steps.recursion
"""
# 264 today
MOST = 290


def test_what_is_elsewhere_is_there() -> None:
    """One that has moved would never be found."""
    ours = [name for name in ELSEWHERE.split() if name.startswith("dbsp.")]
    assert [name for name in ours if find_spec(name) is None] == []


@pytest.mark.spark
def test_a_step_of_a_known_program_imports_what_it_needs(spark: Any, tmp_path: Path) -> None:
    program, deltas = tmp_path / "program.sql", tmp_path / "deltas.jsonl"
    program.write_text(PROGRAM)
    deltas.write_text(DELTAS)
    load_program(program, session=spark)
    script = (
        "import sys; from dbsp.commands.cli import main\n"
        f"main(['step', {str(program)!r}, {str(deltas)!r}], standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    changes, names = ran.stdout.splitlines()
    assert changes == STEPPED
    modules = names.split()
    found = [m for m in modules for one in ELSEWHERE.split() if m == one or m.startswith(f"{one}.")]
    assert found == [], "import them where they are needed"
    ours = [m for m in modules if m.split(".")[0] == "dbsp"]
    assert len(ours) <= MOST, "a step of the smallest program needs more modules than it did"
