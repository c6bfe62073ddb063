"""Which trace holds all rows of a table."""

from __future__ import annotations

from dbsp.views.traces import Traces
from tests.dbsp.build import votes_program


def test_of_tables_and_of_plans() -> None:
    program = votes_program()
    traces, circuit = Traces(program), program.circuit
    of_votes = {trace for trace, _ in traces.of_table("votes", arrival=False)}
    assert circuit.output("all_votes").kept in of_votes
    # the log of `events`: the table has no trace of its own
    assert [at for _, at in traces.of_table("event", arrival=False)] == [[0, 1]]
    assert traces.of_table("customer", arrival=True) == []
    counts = circuit.output("counts").kept
    assert counts in {trace for trace, _ in traces.of_plan(program.views["counts"].plan)}
