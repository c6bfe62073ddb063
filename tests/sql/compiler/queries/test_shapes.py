"""Queries of a known shape aren't compiled; what decides of a plan makes another shape."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call
from dbsp.sql.compiler.queries.query import QUERY, load_query
from dbsp.sql.compiler.queries.shapes import Shapes
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Field

pytestmark = pytest.mark.spark

V = (Field("id", pa.int64(), False), Field("name", pa.string()))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def never() -> Any:
    raise AssertionError("compiled again")


def compiled(spark: Any, select: str) -> Program:
    return load_query(select, {"v": V}, lambda: spark, "UTC")


@pytest.mark.parametrize(
    ("known", "asked", "column"),
    [
        (
            "SELECT id FROM v WHERE id > 5 AND name = 'a'",
            "SELECT id FROM v WHERE id > 77 AND name = 'b'",
            "id",
        ),
        ("SELECT id FROM v WHERE id BETWEEN -1 AND 3", "SELECT id FROM v WHERE id BETWEEN -7 AND 2", "id"),
        ("SELECT id + 1 FROM v WHERE id IN (2, 3)", "SELECT id + 1 FROM v WHERE id IN (8, 9)", "(id + 1)"),
        ("SELECT id FROM v WHERE id > 1 LIMIT 2", "SELECT id FROM v WHERE id > 2 LIMIT 2", "id"),
        ("SELECT id FROM v WHERE id = 1 OR id = 2", "SELECT id FROM v WHERE id = 3 OR id = 3", "id"),
        ("SELECT id FROM v WHERE id / 1.50 > 2", "SELECT id FROM v WHERE id / 2.25 > 7", "id"),
        ("SELECT 'a' AS b FROM v WHERE name LIKE '%c'", "SELECT 'd' AS b FROM v WHERE name LIKE 'e'", "b"),
    ],
)
def test_a_query_of_a_known_shape_is_not_compiled(spark: Any, known: str, asked: str, column: str) -> None:
    compiled(spark, known)
    program = load_query(asked, {"v": V}, never, "UTC")
    assert program.text == asked
    assert program.views[QUERY].schema[0].name == column
    assert program.circuit == compiled(spark, asked).circuit


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        ("SELECT id FROM v WHERE id > 5", "SELECT id FROM v WHERE id > 3000000000"),  # INT, BIGINT
        ("SELECT id FROM v WHERE id > 1.5", "SELECT id FROM v WHERE id > 1.50"),
        ("SELECT id * 1.5 + 2 AS a FROM v", "SELECT id * 1.5 + 22 AS a FROM v"),  # DECIMALs of 1 and 2 digits
        ("SELECT id + 1 FROM v", "SELECT id + 2 FROM v"),  # its name
        ("SELECT 'a' FROM v WHERE name = 'a'", "SELECT 'b' FROM v WHERE name = 'b'"),
        ("SELECT id FROM v LIMIT 1", "SELECT id FROM v LIMIT 2"),
        ("SELECT id, name FROM v ORDER BY 1", "SELECT id, name FROM v ORDER BY 2"),
        ("SELECT id FROM v WHERE id = 1 OR id = 1", "SELECT id FROM v WHERE id = 1 OR id = 2"),
        (
            "SELECT id + 5 AS a, 1 AS n FROM v GROUP BY ROLLUP (id + 5, id + 6)",
            "SELECT id + 5 AS a, 1 AS n FROM v GROUP BY ROLLUP (id + 5, id + 5)",
        ),
        ("SELECT substring(name, 1) AS a FROM v", "SELECT substring(name, 2) AS a FROM v"),
    ],
)
def test_what_decides_of_a_plan_is_of_its_shape(spark: Any, known: str, asked: str) -> None:
    compiled(spark, known)
    with pytest.raises(AssertionError, match="compiled again"):
        load_query(asked, {"v": V}, never, "UTC")


def test_a_shape_is_known_on_disk_and_in_memory(spark: Any, tmp_path: Path) -> None:
    shapes = Shapes()
    load_query("SELECT id FROM v WHERE id > 5", {"v": V}, lambda: spark, "UTC", shapes)
    rmtree(tmp_path / "cache")
    load_query("SELECT id FROM v WHERE id > 6", {"v": V}, never, "UTC", shapes)
    with pytest.raises(AssertionError, match="compiled again"):
        load_query("SELECT id FROM v WHERE id > 7", {"v": V}, never, "UTC", Shapes())


def test_a_row_without_a_value_is_told_with_the_querys_own_literals(spark: Any) -> None:
    compiled(spark, "SELECT 10 / (id - 3) AS a FROM v")
    (call,) = calls_of(load_query("SELECT 12 / (id - 4) AS a FROM v", {"v": V}, never, "UTC"), "divide")
    assert call.text == "12 / (id - 4)"


def calls_of(program: Program, function: str) -> list[Call]:
    found, left = [], [*program.views[QUERY].plan.expressions]
    while left:
        one = left.pop()
        if isinstance(one, Call):
            left += one.arguments
            found += [one] if one.function == function else []
    return found
