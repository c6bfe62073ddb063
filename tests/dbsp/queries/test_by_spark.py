"""What Spark evaluates: beside its rows it says so, and it reads nothing but views."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.allowance import Allowance
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.json_text import encode, fields_of
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.circuits.errors import DataError, ProgramError
from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.answer import answer, answer_or_hand_over, columns_of
from dbsp.queries.plans import Plans
from dbsp.rows.literals import array_of
from dbsp.testing.choices import Seeded
from dbsp.testing.domains import value
from dbsp.views.view import Contents
from tests.generators.columns.zsets import zset_of

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([pa.field("k", pa.int64(), nullable=False), ("s", pa.string()), ("m", MONTHS)])
ROWS = [((1, "a", 5), 2), ((2, None, None), 1), ((3, "c", -7), 1)]
V = Contents("v", SCHEMA, [zset_of(SCHEMA, ROWS)])
RANDOM = "rand\\(\\) is not deterministic"


def here(ask: Callable[[], Contents]) -> Contents:
    return ask()


def beside(ask: Callable[[], Contents]) -> Contents:
    return Allowance(400, 512 << 20).within(ask)()


@pytest.fixture(params=[here, beside], ids=["here", "beside"])
def asked(request: Any, spark: Any) -> Callable[[str], Contents]:
    """By a session of this process, and as a server asks."""
    plans = Plans(lambda: spark, "Europe/Berlin")
    return lambda select: request.param(lambda: answer_or_hand_over(plans, select, {"v": V}, step=3))


def test_each_row_has_a_value_of_its_own(asked: Any) -> None:
    found = asked("SELECT k, rand() AS r, uuid() AS u FROM v")
    rows = found.to_arrow().to_pylist()
    assert sorted(row["k"] for row in rows) == [1, 1, 2, 3]
    assert len({row["r"] for row in rows}) == len({row["u"] for row in rows}) == 4
    assert found.step == 3
    assert found.note.startswith("Spark has evaluated this query: query:1:11: rand() is not deterministic")


def test_the_order_is_sparks(asked: Any) -> None:
    rows = asked("SELECT k, rand() AS r FROM v CROSS JOIN range(50) ORDER BY r DESC").to_arrow().to_pylist()
    drawn = [row["r"] for row in rows]
    assert drawn == sorted(drawn, reverse=True) and len(drawn) == 200
    first, count = asked("SELECT k FROM v ORDER BY k, rand()").page(1, 2)
    assert first.to_pylist() == [{"k": 1}, {"k": 2}] and count == 4


def test_values_are_of_the_types_that_views_have(asked: Any) -> None:
    found = asked("""
        SELECT k, s, m, array(m) AS ms, TIMESTAMP '2024-07-01 00:00:00' AS t, DATE '2024-07-01' AS d,
          1.5BD AS n, named_struct('a', INTERVAL '1' DAY) AS st, rand() < 2 AS b,
          parse_json('{"a": [1]}') AS j, make_interval(0, 1, 0, 2) AS i, NULL AS nothing
        FROM v WHERE k = 3 AND rand() < 2
    """)
    types = [str(field.type) for field in found.schema]
    assert types[:5] == ["int64", "string", str(MONTHS), f"list<item: {MONTHS}>", "timestamp[us, tz=UTC]"]
    (row,) = found.to_arrow().to_pylist()
    assert (row["k"], row["s"], row["m"].months, row["ms"][0].months) == (3, "c", -7, -7)
    assert row["t"].isoformat() == "2024-06-30T22:00:00+00:00"
    assert (row["d"], row["n"], row["b"]) == (date(2024, 7, 1), Decimal("1.5"), True)
    assert (row["j"], row["i"], row["nothing"]) == ('{"a":[1]}', "1 months 2 days", None)


ALL_TYPES = {
    "id": pa.int64(),
    "v": VARIANT,
    "vs": pa.list_(VARIANT),
    "r": pa.struct([("x", VARIANT), ("m", MONTHS)]),
    "i": CALENDAR_INTERVAL,
    "t": TIME,
    "d": pa.duration("us"),
    "by": pa.map_(pa.string(), pa.decimal128(10, 2)),
    "b": pa.binary(),
    "f": pa.float32(),
    "l": pa.timestamp("us"),
    "u": pa.timestamp("us", tz="UTC"),
}


@pytest.mark.parametrize("ask", [here, beside])
@pytest.mark.parametrize("column", ALL_TYPES)
def test_a_view_of_any_type_is_read(spark: Any, ask: Any, column: str) -> None:
    """Whatever its rows are made by for Spark."""
    schema = pa.schema([(column, ALL_TYPES[column])])
    values = [None if column == "i" else value(Seeded(n), schema.field(0).type) for n in range(9)]
    rows = pa.RecordBatch.from_arrays([array_of([*values, None], schema.field(0).type)], schema=schema)
    held = Contents("w", schema, [ZSet(rows, np.ones(10, dtype=np.int64))])
    plans = Plans(lambda: spark, "UTC")
    found = ask(lambda: answer_or_hand_over(plans, f"SELECT {column}, uuid() AS n FROM w", {"w": held}))
    told = (fields_of if column in ("v", "i") else encode)(found.batch().column(0))  # as texts
    assert sorted(told) == sorted((fields_of if column in ("v", "i") else encode)(rows.column(0)))
    (count,) = ask(
        lambda: answer_or_hand_over(plans, "SELECT count(*) AS n FROM w WHERE rand() < 2", {"w": held})
    ).rows()
    assert count == {"n": 10}


def test_a_sample_is_of_the_rows_that_are_there(asked: Any) -> None:
    every = asked("SELECT * FROM v TABLESAMPLE (100 PERCENT)").rows()
    assert sorted(every, key=str) == sorted(V.rows(), key=str)
    assert asked("SELECT count(*) AS n FROM v TABLESAMPLE (0 PERCENT)").rows() == [{"n": 0}]


def test_a_row_without_a_value_is_an_error(asked: Any) -> None:
    with pytest.raises(DataError, match="DIVIDE_BY_ZERO"):
        asked("SELECT 1 / (k - 3), rand() FROM v")


@pytest.mark.parametrize(
    "outside",
    [
        "SELECT rand(), * FROM text.`{file}`",
        "WITH x AS (SELECT * FROM text.`{file}`) SELECT rand(), * FROM x",
        "SELECT rand() FROM v WHERE EXISTS (SELECT * FROM text.`{file}`)",
        "SELECT k, (SELECT max(value) FROM text.`{file}`), rand() FROM v",
        "SELECT rand(), reflect('java.lang.System', 'getProperty', 'user.dir')",
        "SELECT rand(), upper(java_method('java.lang.System', 'getProperty', 'user.dir')) FROM v",
        "SELECT try_reflect('java.lang.System', 'getProperty', 'user.dir')",
        "SELECT transform(array('user.dir'), x -> reflect('java.lang.System', 'getProperty', x))",
        "SELECT TRANSFORM(k) USING 'cat' FROM v",
        "FROM v INSERT OVERWRITE DIRECTORY '{file}' USING parquet SELECT rand()",
    ],
)
def test_nobody_reads_what_is_no_view(asked: Any, tmp_path: Path, outside: str) -> None:
    file = tmp_path / "secret"
    file.write_text("secret")
    with pytest.raises(ProgramError) as error:
        asked(outside.format(file=file))
    assert "secret" not in str(error.value).replace(str(file), "")
    assert file.read_text() == "secret"


def test_what_is_wrong_for_spark_is_said_as_ever(asked: Any) -> None:
    with pytest.raises(ProgramError, match="query:1:16: unknown column 'nope' in 'v'"):
        asked("SELECT rand(), nope FROM v")
    with pytest.raises(ProgramError, match=r"query:1:8: Division by zero"):
        asked("SELECT 1 / 0")


def test_what_changes_tables_is_the_engines_alone(spark: Any) -> None:
    """A statement is evaluated again where others change what it reads: it must mean the same then."""
    with pytest.raises(ProgramError, match=RANDOM):
        answer(Plans(lambda: spark, "UTC"), "SELECT rand() FROM v", {"v": V})


def test_columns_are_known_without_rows_and_a_query_is_analysed_once(spark: Any) -> None:
    plans = Plans(lambda: spark, "UTC")
    schema = columns_of(plans, "SELECT k, rand() AS r FROM v", {"v": V.columns})
    assert [(field.name, str(field.type)) for field in schema] == [("k", "int64"), ("r", "double")]
    for _ in range(2):
        assert len(answer_or_hand_over(plans, "SELECT k, rand() AS r FROM v", {"v": V}).rows()) == 4
    assert plans.found == {"text": 2, "shape": 0, "compiled": 0, "spark": 1}
