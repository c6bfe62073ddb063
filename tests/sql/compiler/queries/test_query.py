"""A query over relations whose rows are there: what it is compiled to, and when it isn't again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.queries.query import QUERY, load_query
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
