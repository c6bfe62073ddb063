"""What a changed program would do to a state directory, before it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dbsp.evolution.evolve import planned
from dbsp.evolution.plan import Plan
from dbsp.pipeline.arguments import FROM_SOURCE, check_backfill
from dbsp.pipeline.udf import Function, declared_of
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program
from dbsp.state.store import Store


def plan(
    program: str | Path | Program,
    state: str | Path,
    *,
    define: Mapping[str, str] | None = None,
    functions: Sequence[Function] = (),
    backfill: str | None = None,
) -> Plan:
    """What `Pipeline(program, state=state, evolve=True)` would keep, back-fill and drop, and whether a run
    would find its files where they were. It changes nothing.

    Examples:
        >>> with dbsp.Pipeline(examples / "votes/program.sql", state=state, runner="inline") as votes:
        ...     _ = votes.step()
        >>> dbsp.plan(examples / "votes/program.sql", state).is_same
        True

    program: a file, or a compiled Program. backfill: as of the pipeline. Raises ProgramError, and StateError
    for the directory; what can't be done is in the plan's `refused`.
    """
    check_backfill(backfill)
    if not isinstance(program, Program):
        declared = declared_of(functions)
        program = load_program(Path(program), define=define, functions=declared)
    store, before = Store.read(state)
    found = planned(program, store, before, backfill == FROM_SOURCE)
    if not any(table.is_file for table in program.tables.values()):
        return found
    from dbsp.pipeline.spark.runs.elsewhere import elsewhere  # noqa: PLC0415  which knows how Spark has files

    refused = (*found.refused, *elsewhere(program, store, before))
    return replace(found, refused=refused, is_same=found.is_same and not refused)
