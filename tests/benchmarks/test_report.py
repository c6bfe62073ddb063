"""The report: figures of the same work beside each other, as a Markdown table."""

from __future__ import annotations

import json

import pytest

from benchmarks.figures import Figure
from benchmarks.report import main


def test_a_table_of_what_was_measured(tmp_path, capsys):
    figures = [
        {"what": "step", "who": "large", "seconds": [0.003, 0.002, 0.004], "events": 0},
        {"what": "step", "who": "small", "seconds": [0.002], "events": 0},
        {"what": "q4", "who": "us", "seconds": [0.5, 1.5], "events": 1_000},
    ]
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"benchmarks": [{"extra_info": {"figures": figures}}, {"extra_info": {}}]}))
    assert main(["--from", str(report)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| step | large | 3.0 ms | 3.9 ms |  | 1.50× |" in lines
    assert "| step | small | 2.0 ms | 2.0 ms |  |  |" in lines
    assert "| q4 | us | 1.00 s | 1.45 s | 1,000 |  |" in lines


def test_percentiles():
    figure = Figure("w", "m", tuple(range(1, 102)))
    assert (figure.p50, figure.p95) == (51, 96)
    assert figure.events_per_second == pytest.approx(0)
