"""What Spark is to evaluate is told from what is wrong, and from what reads else than relations."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.queries.evaluable import Evaluable, evaluable
from dbsp.sql.plans.schemas import Field

pytestmark = pytest.mark.spark

RELATIONS = {"v": (Field("id", pa.int64(), False),), "sales.eu": (Field("x", pa.string()),)}


def found(spark: Any, select: str) -> Evaluable:
    return evaluable(select, RELATIONS, spark, "UTC", ProgramError("why"))


def test_a_query_that_draws_has_sparks_columns(spark: Any) -> None:
    one = found(spark, "SELECT id, rand() AS r, parse_json('1') AS j FROM v, sales.eu WHERE eu.x = 'a';")
    assert [(field.name, str(field.type), field.nullable) for field in one.schema] == [
        ("id", "int64", False),
        ("r", "double", False),
        ("j", "string", False),
    ]
    assert one.spelled == ("{}", "{}", "to_json({})")


def test_other_spellings_are_sparks_by_then(spark: Any) -> None:
    one = found(spark, "SELECT CAST(id AS VARCHAR) AS s, rand() AS r FROM v")
    assert "VARCHAR" not in one.text


@pytest.mark.parametrize(
    "select",
    [
        "SELECT nothing, rand() FROM v",
        "SELECT rand( FROM v",
        "SELECT 1 / 0",
        "SELECT rand() FROM nowhere",
        "SELECT * FROM csv.`/nowhere`",
        "SELECT reflect('java.lang.System', 'nanoTime')",
        "SHOW TABLES",
    ],
)
def test_all_else_is_refused_as_it_was(spark: Any, select: str) -> None:
    with pytest.raises(ProgramError):
        found(spark, select)
