"""The graph has the circuit's operators, and their wires."""

from __future__ import annotations

import json

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.page.graph import graph, relations_of
from dbsp.views.changes import UnknownView
from tests.dbsp.serving.served import PROGRAM


@pytest.fixture(scope="module")
def program() -> object:
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        yield pipeline.program


def test_an_operator_a_node_and_a_wire_an_input(program) -> None:  # type: ignore[no-untyped-def]
    found = json.loads(json.dumps(graph(program)))
    nodes = program.circuit.nodes
    assert [one["number"] for one in found["operators"]] == list(range(len(nodes)))
    assert [one["kind"] for one in found["operators"]] == [type(node.operator).__name__ for node in nodes]
    wires = {(wire["from"], wire["to"]) for wire in found["wires"]}
    assert wires == {(i, n) for n, node in enumerate(nodes) for i in node.inputs}
    assert {view for one in found["operators"] for view in one["views"]} == {"turnover", "latest", "visitors"}
    assert all(one["about"] for one in found["operators"])


def test_what_a_view_needs(program) -> None:  # type: ignore[no-untyped-def]
    found = graph(program, "VISITORS")
    names = {one["relation"] for one in found["operators"]}  # type: ignore[attr-defined]
    assert names <= {"visits", "visitors"}
    assert "visits" in names
    with pytest.raises(UnknownView, match="unknown view 'nope'"):
        graph(program, "nope")


def test_each_operator_is_there_for_a_relation(program) -> None:  # type: ignore[no-untyped-def]
    relations = relations_of(program)
    nodes = program.circuit.nodes
    assert relations.keys() == set(range(len(nodes)))
    for output in program.circuit.outputs:
        assert relations[output.node] in (output.view, "orders", "visits")
    assert {relations[i] for i, node in enumerate(nodes) if type(node.operator).__name__ == "Aggregate"} == {
        "turnover"
    }


RECURSIVE = """
CREATE TABLE edge (a INT, b INT);
CREATE RECURSIVE VIEW reach (a INT, b INT) AS
SELECT a, b FROM edge UNION SELECT e.a, r.b FROM edge e JOIN reach r ON e.b = r.a;
"""


def test_a_recursion_has_wires_that_go_back() -> None:
    with Pipeline(sql=RECURSIVE, runner="inline") as pipeline:
        found = graph(pipeline.program)
        fed_back = pipeline.program.circuit.fed_back
    back = {(wire["from"], wire["to"]) for wire in found["wires"] if wire["back"]}  # type: ignore[attr-defined]
    assert back == {(source, node) for node, sources in fed_back.items() for source in sources} != set()
