"""What Prometheus reads."""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dbsp.circuits.segments.origin import Traffic
from dbsp.serving.following import sources
from dbsp.views.changes import Changes
from tests.dbsp.serving.served import served
from tests.servers.prometheus import checked

DASHBOARD = Path(__file__).parents[3] / "examples" / "grafana" / "dashboard.json"
PROGRAM = """
CREATE TABLE seen (at TIMESTAMP NOT NULL LATENESS INTERVAL 1 HOUR, n INT) WITH (append_only = true);
CREATE VIEW hourly AS
SELECT date_trunc('HOUR', at) AS h, sum(n) AS n FROM seen GROUP BY date_trunc('HOUR', at);
"""


def test_the_numbers_are_those_of_the_steps() -> None:
    with served(program=PROGRAM) as (client, _):
        client.posted(
            "seen", [{"at": "2024-01-01T10:00:00Z", "n": 1}, {"at": "2024-01-01T15:00:00Z", "n": 2}]
        )
        assert client.posted("seen", [{"at": "2024-01-01T10:00:00Z", "n": 1}])["late"] == {"seen": 1}
        families = text_string_to_metric_families(client.get("/metrics").text)
        found = {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}
        assert (
            found["dbsp_steps_total",] == found["dbsp_last_step",] == found["dbsp_step_seconds_count",] == 2
        )
        assert found["dbsp_rows_in_total", "seen"] == 3
        phases = {key[1]: value for key, value in found.items() if key[0] == "dbsp_phase_seconds_total"}
        assert phases.keys() == {"plan", "tasks", "commit"} and min(phases.values()) > 0
        assert abs(sum(phases.values()) - found["dbsp_step_seconds_sum",]) < 1e-6
        assert found["dbsp_rows_out_total", "hourly"] == 2
        assert found["dbsp_late_rows_total", "seen"] == 1
        assert found["dbsp_subscribers",] == 0
        assert found["dbsp_waterline_behind_seconds", "seen.at"] > 365 * 86_400
        for name in ("rows", "bytes", "segments"):
            assert any(key[0] == f"dbsp_state_{name}" and value for key, value in found.items())
        assert found["dbsp_bad_rows_total",] == found["dbsp_store_requests_total", "get"] == 0


@pytest.mark.spark
def test_where_plans_of_queries_were(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with served(program=PROGRAM) as (client, _):
        for number in (1, 1, 2):
            client.get("/query", params={"sql": f"SELECT n FROM hourly WHERE n > {number}"})
        said = client.get("/metrics").text
    found = dict(re.findall(r'^dbsp_query_plans_total{found="(\w+)"} (\S+)$', said, re.MULTILINE))
    assert found == {"text": "1.0", "shape": "1.0", "compiled": "1.0", "spark": "0.0"}


def test_what_the_store_was_asked() -> None:
    with served(program=PROGRAM) as (client, serving):
        serving.pipeline.insert("seen", [{"at": datetime(2024, 1, 1, tzinfo=UTC), "n": 1}])
        changes = serving.pipeline.step()
        traffic = Traffic(
            gets=2, puts=3, deletes=4, lists=5, bytes_read=60, bytes_written=70, found=8, fetched=9
        )
        for _ in range(2):
            serving.numbers.made(replace_traffic(changes, traffic))
        said = client.get("/metrics").text
    counts = dict(
        re.findall(r'^dbsp_store_(?:requests|bytes|copies)_total{\w+="(\w+)"} (\S+)$', said, re.MULTILINE)
    )
    expected = {"get": 4, "put": 6, "delete": 8, "list": 10, "read": 120, "written": 140}
    expected |= {"here": 16, "fetched": 18}
    assert {name: float(count) for name, count in counts.items()} == expected


def replace_traffic(changes: Changes, traffic: Traffic) -> Changes:
    other = copy(changes)
    object.__setattr__(other, "metrics", replace(changes.metrics, traffic=traffic))
    return other


def test_prometheus_takes_the_numbers_and_what_the_dashboard_asks(tmp_path: Path) -> None:
    with served(program=PROGRAM) as (client, _):
        client.posted("seen", [{"at": "2024-01-01T10:00:00Z", "n": 1}])
        said = client.get("/metrics").text
    checked("metrics", said)
    assert "_created" not in said
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [
        {"record": f"asked:{n}", "expr": one.replace("$__rate_interval", "1m")} for n, one in enumerate(asked)
    ]
    checked("rules", json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), tmp_path / "rules.yml")


@pytest.mark.spark
def test_how_far_sources_are_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are posted stand for those of a run, which says what it hasn't read."""
    monkeypatch.setattr(sources, "_GOOD", -1.0)
    (tmp_path / "in").mkdir()
    text = f"""
    CREATE TABLE t (x INT) USING json OPTIONS (path '{tmp_path}/in');
    CREATE TABLE u (x INT);
    CREATE VIEW v AS SELECT t.x FROM t JOIN u ON t.x = u.x;
    """
    with served(program=text) as (client, serving):
        assert "dbsp_source_lag{" not in client.get("/metrics").text
        client.posted("t", [{"x": 1}])
        client.posted("u", [{"x": 1}])
        serving.pipeline.behind = lambda: {"t": (3, "files")}
        said = client.get("/metrics").text
        assert 'dbsp_source_lag{table="t",unit="files"} 3.0' in said
        (quiet,) = re.findall(r'^dbsp_source_quiet_seconds{table="(\w+)"} (\S+)$', said, re.MULTILINE)
        assert quiet[0] == "t" and 0 < float(quiet[1]) < 60
        assert "dbsp_source_away{" not in said
        serving.pipeline.away = lambda: {"t": "no route"}
        assert 'dbsp_source_away{table="t"} 1.0' in client.get("/metrics").text
        serving.pipeline.behind = dict
        assert "dbsp_source_lag{" not in client.get("/metrics").text


def test_the_dashboard_draws_numbers_that_there_are() -> None:
    with served(program=PROGRAM) as (client, _):
        client.posted("seen", [{"at": "2024-01-01T10:00:00Z", "n": 1}])
        there = set(re.findall(r"^# TYPE (\w+) ", client.get("/metrics").text, re.MULTILINE))
    drawn = {
        re.sub("_bucket$", "", name)
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\bdbsp_\w+", target["expr"])
    }
    assert drawn <= there, drawn - there
    assert {"dbsp_source_lag", "dbsp_source_quiet_seconds"} <= drawn
    assert {"dbsp_steps_total", "dbsp_phase_seconds_total", "dbsp_undelivered_steps"} <= drawn
