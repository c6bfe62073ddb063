"""`make demo`, small and on a pipe: it must end with every view equal to Spark SQL."""

from __future__ import annotations

import pytest

from benchmarks import demo

pytestmark = pytest.mark.spark


def test_every_view_is_equal(spark, tmp_path, capsys):
    assert demo.main(["--events", "6000", "--step", "2000", "--dir", str(tmp_path / "d")], spark) == 0
    output = capsys.readouterr().out
    assert "3 of 3" in output
    assert output.count("│ equal │") == 10
    assert "differ" not in output


def test_a_wrong_view_is_noticed(spark, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo.recompute, "differences", lambda one, other: 7)
    assert demo.main(["--events", "1000", "--step", "1000", "--dir", str(tmp_path / "d")], spark) == 1
    assert "7 rows differ" in capsys.readouterr().out
