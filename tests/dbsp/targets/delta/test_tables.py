"""A Delta table is opened, or made as it is declared; another's columns are said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from dbsp.circuits.errors import Error
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field
from dbsp.targets.delta.tables import check_columns, existing, new_table
from tests.dbsp.build import table

COLUMNS = (Field("id", pa.int64(), False), Field("d", pa.decimal128(9, 2)), Field("l", pa.list_(pa.string())))


class _Outlet:
    """As much of an outlet as tables are made of."""

    def __init__(self, path: Path, columns: tuple[Field, ...] = COLUMNS, **options: str) -> None:
        self.table: Table = replace(
            table("t", columns),
            options={"Path": str(path), **{k.replace("_", "."): v for k, v in options.items()}},
        )


def outlet(path: Path, *args: Any, **options: str) -> Any:
    return _Outlet(path, *args, **options)


def test_a_table_is_made_once(tmp_path: Path) -> None:
    made = outlet(tmp_path / "t", delta_appendOnly="true")
    assert existing(made) is None
    first = new_table(made)
    assert first.metadata().configuration == {"delta.appendOnly": "true"}
    assert [(f.name, f.nullable) for f in first.schema().fields] == [("id", False), ("d", True), ("l", True)]
    assert new_table(made).version() == 0
    again = existing(made)
    assert again is not None
    check_columns(again, made)


def test_columns_in_another_order_are_the_same(tmp_path: Path) -> None:
    DeltaTable.create(tmp_path / "t", pa.schema([(c.name, c.type) for c in reversed(COLUMNS)]))
    there = existing(outlet(tmp_path / "t"))
    assert there is not None
    check_columns(there, outlet(tmp_path / "t"))


@pytest.mark.parametrize(
    "other",
    [COLUMNS[:2], (*COLUMNS, Field("x", pa.int8())), (Field("id", pa.int32()), *COLUMNS[1:])],
)
def test_other_columns_are_said(tmp_path: Path, other: tuple[Field, ...]) -> None:
    there = new_table(outlet(tmp_path / "t", other))
    with pytest.raises(
        Error, match=r"it has the columns: id .*; declared are: id bigint, d decimal\(9,2\), l"
    ):
        check_columns(there, outlet(tmp_path / "t"))
