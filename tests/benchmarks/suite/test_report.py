"""What the suite writes: tables of whole runs, curves, and figures that stay if not measured anew."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from benchmarks.suite.__main__ import main, report
from benchmarks.suite.measurement import Measurement, load
from benchmarks.suite.report import curves, table

STEPS = Measurement("Nexmark", "q4", "us", (0.1,) * 19 + (0.5,), events=1_000, cpu=4.0, peak=2_000_000)


def test_whole_is_all_events_over_all_seconds():
    assert STEPS.whole == pytest.approx(20_000 / 2.4)
    assert (STEPS.percentile(50), STEPS.cpu_of_step) == (0.1, 0.2)
    assert STEPS.percentile(99) > 0.4


def test_a_table_has_the_columns_that_were_measured():
    lines = table([STEPS, Measurement("Nexmark", "q4", "them", (2.0,), events=10_000)]).splitlines()
    assert lines[0] == "| what | who | p50 | p95 | p99 | whole, events/s | CPU a step | memory |"
    assert lines[2] == "| q4 | us | 100.0 ms | 120.0 ms | 424.0 ms | 8,330 | 200.0 ms | 2 MB |"
    assert lines[3] == "| q4 | them | 2.00 s |  |  | 5,000 |  |  |"


def test_a_curve_is_drawn_on_logarithmic_axes():
    points = [
        Measurement("Curves: delta", f"{rows}", "", (1e-6 * rows,), cpu=1e-6 * rows, at=rows)
        for rows in (100, 10_000, 1_000_000)
    ]
    (name, text), *more = curves([*points, STEPS]).items()
    assert (name, more) == ("delta.svg", [])
    lines = [line.get("points").split() for line in ElementTree.fromstring(text).iter() if line.get("points")]
    (first, middle, last), *_ = ([tuple(map(float, p.split(","))) for p in line] for line in lines)
    assert middle[0] - first[0] == pytest.approx(last[0] - middle[0], abs=0.2)
    assert first[1] - middle[1] == pytest.approx(middle[1] - last[1], abs=0.2)


def test_what_is_not_run_keeps_its_figures(tmp_path):
    other = Measurement("Nexmark", "q9", "us", (1.0,))
    report(tmp_path, {"a": [STEPS], "b": [other]}, "one")
    report(tmp_path, {"b": [Measurement("Nexmark", "q9", "us", (3.0,))]}, "two")
    machine, found = load(tmp_path / "results.json")
    assert machine["command"] == "two"
    assert [(each.what, each.seconds[0]) for each in found] == [("q4", 0.1), ("q9", 3.0)]
    text = (tmp_path / "RESULTS.md").read_text()
    assert "| q9 | us | 3.00 s |" in text
    pictures = re.findall(r"\]\((curves/.*?)\)", text)
    assert pictures == ["curves/scale.svg"]  # the model's
    assert ElementTree.parse(tmp_path / pictures[0]).getroot().tag.endswith("svg")
    assert json.loads((tmp_path / "results.json").read_text())["machine"]["cores"]


def test_subjects_are_named(capsys):
    assert main(["--list", "--only", "q9"]) == 0
    assert capsys.readouterr().out.split() == ["in-process-q9", "steady-q9"]
    assert main(["--only", "no such"]) == 2
