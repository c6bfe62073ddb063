"""What explains a program, over HTTP."""

from __future__ import annotations

from tests.dbsp.serving.served import PROGRAM, served


def test_the_circuit_and_the_part_that_a_view_needs() -> None:
    with served() as (client, serving):
        whole = client.get("/circuit").json()
        assert len(whole["operators"]) == len(serving.pipeline.program.circuit.nodes)
        part = client.get("/circuit?view=visitors").json()
        assert 0 < len(part["operators"]) < len(whole["operators"])
        assert client.get("/circuit?view=nope").status_code == 404
        assert client.get("/circuit").json() == whole


def test_the_text_and_its_lines() -> None:
    with served() as (client, _):
        found = client.get("/program").json()
        assert found["text"].strip() == PROGRAM.strip()
        lines = found["text"].split("\n")
        names = [one["name"] for one in found["statements"]]
        assert names == ["orders", "visits", "turnover", "latest", "visitors"]
        for one in found["statements"]:
            assert one["name"] in lines[one["lines"][0] - 1]
