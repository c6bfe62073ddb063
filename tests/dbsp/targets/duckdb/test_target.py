"""A table in a file of DuckDB: every type, nested ones too, and a file that others can have between steps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.errors import DeliveryError
from dbsp.sql.plans.schemas import Field
from dbsp.targets.duckdb.target import DuckdbStatements, make
from tests.dbsp.targets.databases.places import Place, place
from tests.dbsp.targets.databases.typed import listed, typed_program, written
from tests.dbsp.targets.voting import opened


def test_every_type(tmp_path: Path) -> None:
    with place("duckdb", tmp_path) as there:
        wanted = written(there, tmp_path / "state")
        assert sorted(map(as_given, there.rows(f"SELECT {listed(there.quote)} FROM typed"))) == wanted


def as_given(row: tuple[Any, ...]) -> tuple[Any, ...]:
    *before, at, local = row
    return (*before, at and at.astimezone(UTC), local)


def test_nested_values(tmp_path: Path) -> None:
    struct = pa.struct([("a b", pa.int32()), ("m", pa.map_(pa.string(), pa.decimal128(5, 1))), ("t", TIME)])
    columns = (Field("id", pa.int64(), False), Field("x", pa.list_(struct)))
    value = [{"a b": 1, "m": [("k", None)], "t": time(10, 30)}, None, {"a b": None, "m": None, "t": None}]
    with place("duckdb", tmp_path) as there, opened(typed_program(there, columns), tmp_path / "state") as p:
        for step in range(3):
            p.insert(
                "given", pa.table({"id": [1, step], "x": pa.array([value[: step + 1]] * 2, columns[1].type)})
            )
            p.step()
        found = there.rows("SELECT id, x FROM typed ORDER BY id")
        wanted = [{"a b": 1, "m": {"k": None}, "t": time(10, 30)}, None, {"a b": None, "m": None, "t": None}]
        assert found == [(0, wanted[:1]), (1, wanted), (2, wanted)]


def test_a_file_that_another_process_has_is_tried_again(tmp_path: Path) -> None:
    with place("duckdb", tmp_path) as there:
        with opened(typed_program(there), tmp_path / "state") as p:
            p.insert("given", [{"id": "a"}])
            p.step()
            # between steps the file is nobody's
            with duckdb.connect(there.options["path"]) as connection:
                connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
            p.insert("given", [{"id": "b"}])
            p.step()
        assert there.rows("SELECT id FROM typed ORDER BY id") == [("a",), ("b",)]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    there = Place("duckdb", {"path": str(tmp_path / "no" / "file.db")}, lambda _: [], lambda _: None)
    with opened(typed_program(there), tmp_path / "state") as p:
        p.insert("given", [{"id": "a"}])
        with pytest.raises(DeliveryError, match="Cannot open file"):
            p.step()


def test_a_file_whose_making_is_cut_short_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(path: Path) -> None:
        path.write_bytes(bytes(4096))
        raise duckdb.IOException("No space left on device")

    with place("duckdb", tmp_path) as there, opened(typed_program(there), tmp_path / "state") as p:
        p.insert("given", [{"id": "a"}])
        with monkeypatch.context() as patch, pytest.raises(DeliveryError, match="No space left"):
            patch.setattr(duckdb, "connect", cut)
            p.step()
        p.deliver()
        assert there.rows("SELECT id FROM typed") == [("a",)]
        assert [*tmp_path.glob("*.tmp")] == []


@pytest.mark.parametrize("is_there", [True, False])
def test_an_empty_file_is_made_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """is_there: another process has made it meanwhile."""
    path = tmp_path / "some.duckdb"

    def refused(*_: object) -> None:
        if is_there:
            with duckdb.connect(path) as connection:
                connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
        raise OSError

    monkeypatch.setattr("os.link", refused)
    make(path)
    with duckdb.connect(path) as connection:
        assert (
            connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("mine",)] * is_there
        )
    assert [*tmp_path.iterdir()] == [path]


def test_rows_that_change_are_written_anew() -> None:
    one = DuckdbStatements("t", (Field("a", pa.int64()), Field("b", pa.int64())), ("a",))
    assert one.apply[0] == 'DELETE FROM "t" WHERE "a" IN (SELECT "a" FROM dbsp_staged)'
    assert replace(one, key=("a", "b")).apply[0].startswith('DELETE FROM "t" WHERE ("a", "b") IN (SELECT')
