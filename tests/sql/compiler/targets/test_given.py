"""Columns that an INSERT INTO gives by name or in order."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from tests.sql.compiler.targets.into import compiled

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("columns", "insert", "properties", "error"),
    [
        (
            "a INT, n BIGINT, __op STRING",
            "(a, m) SELECT shop, n FROM sold",
            "",
            "6:21: unknown column 'm' in 'out'; columns: a, n, __op",
        ),
        ("a INT, n BIGINT", "(a, A) SELECT shop, n FROM sold", "", "6:21: column 'A' is listed twice"),
        (
            "a INT, n BIGINT, __op STRING",
            "(a) SELECT shop, n FROM sold",
            "",
            "6:21: the query has 2 columns, table 'out' has 1: a",
        ),
    ],
)
def test_columns_there_aren_t(spark: Any, columns: str, insert: str, properties: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(spark, columns, insert, properties)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("insert", "places"),
    [
        ("SELECT shop, n FROM sold", (0, 1, None)),
        ("(n, A) SELECT n, shop FROM sold", (1, 0, None)),
        ("BY NAME SELECT n, shop AS A FROM sold", (1, 0, None)),
    ],
)
def test_each_column_has_its_place(spark: Any, insert: str, places: tuple[int | None, ...]) -> None:
    assert compiled(spark, "a INT, n BIGINT, __weight BIGINT", insert).columns == places
