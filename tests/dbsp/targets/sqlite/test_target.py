"""A table in a file of SQLite: what it holds of every type, and what it can't."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.errors import DeliveryError
from dbsp.sql.plans.schemas import Field
from tests.dbsp.targets.databases.places import Place, place
from tests.dbsp.targets.databases.typed import listed, typed_program, written
from tests.dbsp.targets.voting import opened


def test_every_type(tmp_path: Path) -> None:
    with place("sqlite", tmp_path) as there:
        wanted = written(there, tmp_path / "state")
        assert sorted(map(as_given, there.rows(f"SELECT {listed(there.quote)} FROM typed"))) == wanted
        assert {type(n) for (n,) in there.rows("SELECT n FROM typed WHERE n IS NOT NULL")} == {str}


def as_given(row: tuple[Any, ...]) -> tuple[Any, ...]:
    *before, b, n, text, data, day, hour, at, local = row
    instant = None if at is None else datetime.fromisoformat(at).replace(tzinfo=UTC)
    return (
        *before,
        None if b is None else bool(b),
        None if n is None else Decimal(n),
        text,
        data,
        None if day is None else date.fromisoformat(day),
        None if hour is None else time.fromisoformat(hour),
        instant,
        None if local is None else datetime.fromisoformat(local),
    )


def test_infinity_is_there_and_nan_is_said(tmp_path: Path) -> None:
    with place("sqlite", tmp_path) as there:
        made = typed_program(there, (Field("id", pa.int64(), False), Field("d", pa.float64())))
        with opened(made, tmp_path / "state") as p:
            p.insert("given", [(1, float("inf")), (2, None)])
            p.step()
            assert there.rows("SELECT * FROM typed ORDER BY id") == [(1, float("inf")), (2, None)]
            p.insert("given", [(3, float("nan"))])
            with pytest.raises(DeliveryError, match="column 'd' has NaN, and SQLite no such number"):
                p.step()


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    there = Place("sqlite", {"path": str(tmp_path / "no" / "file.db")}, lambda _: [], lambda _: None)
    with opened(typed_program(there), tmp_path / "state") as p:
        p.insert("given", [{"id": "a"}])
        with pytest.raises(DeliveryError, match="unable to open database file"):
            p.step()
