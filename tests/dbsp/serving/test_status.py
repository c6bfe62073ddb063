"""What is said of steps is what they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.dbsp.serving.served import Client, served

PROGRAM = """
CREATE TABLE seen (at TIMESTAMP NOT NULL LATENESS INTERVAL 1 HOUR, n INT) WITH (append_only = true);
CREATE VIEW hourly AS
SELECT date_trunc('HOUR', at) AS h, sum(n) AS n FROM seen GROUP BY date_trunc('HOUR', at);
"""
TEN, LATER = "2024-01-01T10:00:00Z", "2024-01-01T15:00:00Z"


def events(client: Client, until: int) -> tuple[list[dict[str, object]], list[dict[str, int]]]:
    """Those of /steps up to a step, which is made when the stream is there; and how large the state was."""
    found: list[dict[str, object]] = []
    sizes: list[dict[str, int]] = []
    with client.stream("GET", "/steps") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry: ")
        client.posted("seen", [{"at": TEN, "n": 1}])
        client.posted("seen", [{"at": TEN, "n": 2}])
        event = ""
        for line in lines:
            event = line.removeprefix("event: ") if line.startswith("event: ") else event
            if line.startswith("data: ") and event == "state":
                sizes.append(json.loads(line[6:]))
            elif line.startswith("data: "):
                found.append(json.loads(line[6:]))
            if sizes and found[-1]["step"] == until:
                return found, sizes
    raise AssertionError(f"no step {until}: {found}")


def test_steps_with_their_phases_waterlines_and_late_rows() -> None:
    with served(program=PROGRAM) as (client, _):
        before = client.get("/status").json()
        assert (before["step"], before["steps"], before["waterlines"]) == (0, [], {"seen.at": None})
        client.posted("seen", [{"at": TEN, "n": 1}, {"at": LATER, "n": 2}])
        client.posted("seen", [{"at": TEN, "n": 1}])
        status = client.get("/status").json()
        first, second = status["steps"]
        assert (first["step"], second["step"], status["step"]) == (1, 2, 2)
        assert first["phases"].keys() == {"plan", "tasks", "commit"}
        assert (first["in"], first["out"], second["out"]) == ({"seen": 2}, {"hourly": 2}, {"late_rows": 1})
        assert (first["late"], second["late"], status["late"]) == ({}, {"seen": 1}, {"seen": 1})
        assert first["waterlines"] == status["waterlines"] == {"seen.at": "2024-01-01 14:00:00+00:00"}
        assert status["kept"] == [1, 2]
        assert status["rows"] > 0 < status["bytes"]
        assert (status["trouble"], status["sources"], status["sinks"]) == ("", [], [])


def test_each_step_is_told_once_as_it_is_made() -> None:
    with served(program=PROGRAM) as (client, serving):
        client.posted("seen", [{"at": TEN, "n": 1}])
        told, sizes = events(client, 3)
        assert [one["step"] for one in told] == [2, 3]
        status = client.get("/status").json()
        assert told == status["steps"][1:]
        assert sizes[-1] == {name: status[name] for name in ("rows", "bytes")}
        assert serving.subscriptions.open <= 1


def test_operators_of_the_last_step_and_after_it_was_opened_anew(tmp_path: Path) -> None:
    with served(tmp_path / "state", PROGRAM) as (client, serving):
        client.posted("seen", [{"at": TEN, "n": 1}, {"at": LATER, "n": 2}])
        found = client.get("/operators").json()
        circuit = serving.pipeline.program.circuit
        assert [int(i) for i in found["operators"]] == list(range(len(circuit.nodes)))
        source = found["operators"][str(circuit.sources["seen"])]
        assert (source["rows"], source["stored"]) == (2, None)
        assert all(one["seconds"] >= 0 for one in found["operators"].values())
        assert {int(i) for i, one in found["operators"].items() if one["stored"] is not None} == {
            *circuit.layouts,
            *circuit.logs,
        }
    with served(tmp_path / "state", PROGRAM) as (client, _):
        again = client.get("/operators").json()
        assert again["step"] == 1
        assert {one["rows"] for one in again["operators"].values()} == {None}
        stored = [one["stored"] for one in again["operators"].values()]
        assert stored == [one["stored"] for one in found["operators"].values()]
        assert client.get("/status").json()["waterlines"] == {"seen.at": "2024-01-01 14:00:00+00:00"}


def test_who_is_in_trouble_says_so() -> None:
    with served(program=PROGRAM) as (client, serving):
        serving.trouble = "the sink is down"
        assert client.get("/status").json()["trouble"] == "the sink is down"


@pytest.mark.slow
def test_a_sink_is_listed_with_what_it_is_without(tmp_path: Path) -> None:
    program = f"""
CREATE TABLE t (x INT) WITH (append_only = true);
CREATE VIEW v AS SELECT x FROM t;
CREATE TABLE out (x INT) USING sqlite OPTIONS (path '{tmp_path / "out.db"}', dbtable 'out');
INSERT INTO out SELECT * FROM v;
"""
    with served(program=program) as (client, _):
        client.posted("t", [{"x": 1}])
        status = client.get("/status").json()
        (sink,) = status["sinks"]
        assert (sink["table"], sink["view"], sink["format"], sink["undelivered"]) == ("out", "v", "sqlite", 0)
        assert "deliver" in status["steps"][0]["phases"]
