"""The plugin in projects of others: one whose tests pass, and one whose tests fail."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.architecture.imports import ROOT
from tests.dbsp.testing.plugged import run_with_plugin

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """\
CREATE TABLE sale (shop STRING, price BIGINT);
CREATE VIEW sold AS SELECT shop, sum(price) AS total FROM sale WHERE price > ${LEAST} GROUP BY shop;
"""
TESTS = """\
from hypothesis import given, settings
import dbsp
from dbsp.testing import assert_equals_spark, assert_replay, deltas_of, load, play

LEAST = {"LEAST": "0"}
PROGRAM = load("sales.sql", LEAST)

def test_rows(dbsp_program):
    p = dbsp_program("sales.sql", LEAST="5")
    p.insert("sale", [("Ada", 7), ("Ada", 5)])
    p.step()
    assert p["sold"].rows() == [{"shop": "Ada", "total": 7}]

def test_text(dbsp_program):
    p = dbsp_program("CREATE TABLE t (k INT); CREATE VIEW v AS SELECT k FROM t;")
    assert p.views == ["v"]

def test_replay():
    assert_replay("sales.sql", "deltas.sql", "expected.jsonl", define=LEAST)

@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(deltas_of(PROGRAM))
def test_all_that_is_sold_costs_something(deltas):
    with dbsp.Pipeline(PROGRAM, runner="inline") as p:
        for changes in play(p, deltas):
            assert all(row["total"] > 0 for row in p["sold"].rows())

def test_spark():
    assert_equals_spark("sales.sql", steps=4, define=LEAST)
"""
BROKEN = """
import pytest
from dbsp.circuits.operators.linear import Filter

@pytest.fixture(autouse=True)
def wrong(monkeypatch):
    monkeypatch.setattr(Filter, "step", lambda self, context, *inputs: inputs[0])
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its tests in a folder, so that paths are of the test's and not of the working directory."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = pytester.mkdir("checks")
    (folder / "sales.sql").write_text(PROGRAM)
    (folder / "deltas.sql").write_text("INSERT INTO sale VALUES ('Ada', 7);\nSTEP;\n")
    (folder / "test_sales.py").write_text(TESTS)
    return folder


def test_a_project_that_is_right(pytester, project):
    first = run_with_plugin(pytester, "--dbsp-accept")
    first.assert_outcomes(passed=5)
    first.stdout.fnmatch_lines(["accepted */checks/expected.jsonl: read it"])
    changed = '{"step": 1, "view": "sold", "row": {"shop": "Ada", "total": 7}, "weight": 1}\n'
    assert (project / "expected.jsonl").read_text() == changed
    again = run_with_plugin(pytester, "-k", "test_replay")
    again.assert_outcomes(passed=1, deselected=4)
    again.stdout.no_fnmatch_line("accepted *")


def test_a_project_that_is_wrong(pytester, project):
    (project / "expected.jsonl").write_text('{"step": 1}\n')
    (project / "conftest.py").write_text(BROKEN)
    result = run_with_plugin(pytester)
    result.assert_outcomes(passed=1, failed=4)
    result.stdout.fnmatch_lines(
        [
            "*-{?step?: 1}",
            "*+{?step?: 1, ?view?: ?sold?, *",
            "*if this is right, `pytest --dbsp-accept` writes it",
            "*view 'sold' isn't what Spark SQL computes, after step *",
            "*dbsp has, Spark hasn't:",
            "*{?table?: ?sale?, ?row?: {*",
        ]
    )
    result.stdout.no_fnmatch_line("*def assert_replay*")  # the message, and not our code


def test_the_plugin_is_an_entry_point():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert declared == {"dbsp": "dbsp.testing.plugin"}
