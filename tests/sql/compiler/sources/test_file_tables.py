"""Files in the place of tables, in a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import dbsp
from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import load_program

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE VIEW orders AS SELECT o.country, sum(o.amount) AS total, max(o.at) AS last
FROM 'in/orders*.csv' o GROUP BY o.country;
CREATE VIEW named AS SELECT c.name, o.total FROM orders o JOIN 'in/country.json' c ON c.country = o.country;
"""
# DuckDB reads what Spark does by itself
ASKED = """
SELECT c.name, sum(o.amount) FROM 'in/orders*.csv' o JOIN 'in/country.json' c ON c.country = o.country
GROUP BY c.name ORDER BY 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "orders1.csv").write_text(
        "id,country,amount,at\n1,FR,2,2024-01-01 10:00:00\n2,DE,30,2024-01-02 11:30:00\n"
    )
    (inside / "orders2.csv").write_text("id,country,amount,at\n3,FR,5,2024-01-01 10:20:00\n")
    (inside / "country.json").write_text(
        '{"country":"FR","name":"France"}\n{"country":"DE","name":"Allemagne"}\n'
    )
    return inside


def test_every_file_once_as_it_comes(folder: Path, spark: Any, tmp_path: Path) -> None:
    with dbsp.Pipeline(sql=PROGRAM, spark=spark, state=tmp_path / "state") as p:
        assert set(p.program.inputs) == {"orders_files", "country"}  # orders is a view's name
        p.run(once=True)
        assert [tuple(row.values()) for row in p["named"].rows()] == duckdb.sql(ASKED).fetchall()
        (folder / "orders3.csv").write_text("id,country,amount,at\n4,DE,7,2024-01-03 00:00:00\n")
        p.run(once=True)
        assert [tuple(row.values()) for row in p["named"].rows()] == duckdb.sql(ASKED).fetchall()
        text = p.program.text
    assert "CREATE TABLE `orders_files` (id INT, country STRING, amount INT, at TIMESTAMP) USING csv" in text
    with dbsp.Pipeline(sql=PROGRAM, spark=spark, state=tmp_path / "state") as p:
        assert len(p["orders"].rows()) == 2
    (folder / "orders4.csv").write_text("id,country,amount,at\n5,DE,0.5,2024-01-03 00:00:00\n")
    with pytest.raises(dbsp.Error, match="which differs from"):
        dbsp.Pipeline(sql=PROGRAM, spark=spark, state=tmp_path / "state")


def test_what_does_not_fit_the_columns_that_were_found_fails(folder: Path, spark: Any) -> None:
    with dbsp.Pipeline(sql=PROGRAM, spark=spark) as p:
        (folder / "orders3.csv").write_text("id,country,amount,at\n4,DE,a lot,2024-01-03 00:00:00\n")
        with pytest.raises(dbsp.Error, match="a lot"):
            p.run(once=True)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (
            "o.totl FROM 'in/orders1.csv' o",
            "p.sql:2:8: unknown column 'o.totl' in 'orders1'; columns: id, country",
        ),
        (
            "*\nFROM 'in/orders7.csv' o",
            "p.sql:3:6: there is no file 'in/orders7.csv'; did you mean 'in/orders",
        ),
    ],
)
def test_what_is_wrong_is_said_at_the_users_place(folder: Path, spark: Any, query: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load_program(f"CREATE VIEW v AS\nSELECT {query};", "p.sql", session=spark)
    assert str(raised.value).startswith(error)
