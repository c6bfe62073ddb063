"""A query over relations whose rows are there: what it is compiled to, and when it isn't again."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.months import MONTHS
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call
from dbsp.sql.compiler.query import QUERY, load_query
from dbsp.sql.compiler.shapes import Shapes
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Field, Schema

pytestmark = pytest.mark.spark

V = (Field("id", pa.int64(), False), Field("name", pa.string()), Field("for", MONTHS))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def never() -> Any:
    raise AssertionError("compiled again")


def compiled(spark: Any, select: str, name: str = "v", schema: Schema = V) -> Program:
    return load_query(select, {name: schema}, lambda: spark, "UTC")


def columns(program: Program) -> list[tuple[str, str, bool]]:
    return [(field.name, str(field.type), field.nullable) for field in program.views[QUERY].schema]


def test_columns_have_sparks_names_and_types(spark: Any) -> None:
    found = columns(compiled(spark, "SELECT id, count(*), max(`for`) AS longest FROM v GROUP BY id"))
    assert found == [("id", "int64", False), ("count(1)", "int64", False), ("longest", "duration[s]", True)]


def test_columns_may_have_one_name(spark: Any) -> None:
    assert columns(compiled(spark, "SELECT a.id, b.id, NULL FROM v a JOIN v b USING (id)")) == [
        ("id", "int64", False),
        ("id", "int64", False),
        ("NULL", "null", True),
    ]


@pytest.mark.parametrize("name", ["late_rows", "bad_rows", "query", "v as of 2024-01-31 12:00:00", "a`b"])
def test_a_relation_may_have_any_name(spark: Any, name: str) -> None:
    quoted = name.replace("`", "``")
    assert columns(compiled(spark, f"SELECT id FROM `{quoted}`", name)) == [("id", "int64", False)]


def test_the_order_is_the_querys(spark: Any) -> None:
    (by,) = compiled(spark, "SELECT id, name FROM v ORDER BY name DESC;").views[QUERY].order
    assert by.descending and by.nulls_last


@pytest.mark.parametrize(
    ("select", "why"),
    [
        ("SELECT x FROM v", r"query:1:8: unknown column 'x' in 'v'; columns: id, name, for"),
        ("SELECT *\nFROM w", r"query:2:6: unknown table 'w'"),
        ("SELEC", r"query:1:1: 'SELEC' begins no query; it is SELECT"),
        ("SELECT FROM FROM", r"query:1:"),
        ("DROP VIEW v", r"query:1:1: 'DROP' begins no query"),
        ("INSERT INTO v SELECT * FROM v", r"query:1:1: 'INSERT' begins no query"),
        ("SELECT rand()", r"query:1:8: rand\(\) is not deterministic"),
        ("SELECT first(name) FROM v", r"query:1:8: "),
        ("-- nothing", r"query:1:11: nothing is asked"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(spark: Any, select: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        compiled(spark, select)


def test_a_known_query_needs_no_session(spark: Any) -> None:
    first = compiled(spark, "SELECT id FROM v")
    assert load_query(" SELECT id FROM v ;", {"v": V}, never, "UTC") == first


@pytest.mark.parametrize(
    ("relations", "timezone"),
    [({"v": V[:2]}, "UTC"), ({"v": V, "w": V}, "UTC"), ({"v": V}, "Europe/Vienna")],
)
def test_what_it_reads_and_the_zone_are_part_of_it(
    spark: Any, relations: dict[str, Schema], timezone: str
) -> None:
    compiled(spark, "SELECT id FROM v")
    with pytest.raises(AssertionError, match="compiled again"):
        load_query("SELECT id FROM v", relations, never, timezone)


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
        ("SELECT id FROM v WHERE id / 1.50 > 2", "SELECT id FROM v WHERE id / 2.25 > 7", "id"),
        ("SELECT 'a' AS b FROM v WHERE name LIKE '%c'", "SELECT 'd' AS b FROM v WHERE name LIKE 'e'", "b"),
    ],
)
def test_a_query_of_a_known_shape_is_not_compiled(spark: Any, known: str, asked: str, column: str) -> None:
    compiled(spark, known)
    program = load_query(asked, {"v": V}, never, "UTC")
    assert program.text == asked
    assert columns(program)[0][0] == column
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
        ("SELECT id FROM v WHERE id = 1 OR id = 2", "SELECT id FROM v WHERE id = 1 OR id = 1"),
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
