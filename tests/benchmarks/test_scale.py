"""The model of scale: it says what it is told, and what stops growing."""

from __future__ import annotations

import pytest

from benchmarks.scale import EVENTS, Query, Spark, calibrated, rates, seconds
from benchmarks.suite.measurement import Measurement, save

ALONE = Spark(driver=0, task=0, shuffle=0, pieces=None, spread=0)


def test_without_overhead_it_is_as_many_times_as_fast():
    query = Query(work=1, merges=1, moved=0, levels=3)
    assert seconds(query, 64, ALONE) * 64 == pytest.approx(seconds(query, 1, ALONE)) == 2 * EVENTS / 1e6


def test_capped_merges_and_barriers_end_growth():
    query = Query(work=1, merges=1, moved=0, levels=1)
    capped = Spark(driver=0, task=0.07, shuffle=0, pieces=16, spread=0)
    assert seconds(query, 10**6, capped) == pytest.approx(0.07 + 10 / 16, rel=1e-3)
    values = [rate for _, rate in rates(query, capped)]
    assert values == sorted(values)


def test_work_is_that_of_the_suite(tmp_path):
    results = tmp_path / "results.json"
    assert calibrated(results)["q4"].levels == 3
    one = Measurement("Nexmark, in process", "q4", "dbsp", (0.1, 0.1), events=100_000, cpu=0.4)
    save(results, {}, [one])
    found = calibrated(results)["q4"]
    assert found.work + found.merges == pytest.approx(2.0)
