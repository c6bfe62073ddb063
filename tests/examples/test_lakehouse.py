"""The example with Postgres, CSV and Delta, run as it stands: the table is the join of what is in both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from tests.servers.jars import driver
from tests.servers.missing import missing
from tests.servers.postgres import postgres

EXAMPLE = Path(__file__).parents[2] / "examples" / "lakehouse"


@pytest.mark.spark
@pytest.mark.slow
def test_what_is_in_postgres_and_csv_is_in_delta(tmp_path: Path) -> None:
    if not driver():
        missing("Postgres' driver for Spark")
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    with postgres() as server:
        where = {"ORDERS": f"jdbc:postgresql://127.0.0.1:{server.port}/postgres?user=dbsp"}
        # the jar that `make servers` fetched, instead of the package
        options = ["--once", "--packages", "", "--jars", ",".join(driver())]
        command = [sys.executable, "-m", "dbsp.commands.cli", "run", "turnover.sql", *options]

        def run(*statements: str) -> list[tuple[Any, ...]]:
            server.execute(*statements)
            done = subprocess.run(
                command,
                cwd=tmp_path,
                env={**os.environ, **where},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            rows = DeltaTable(tmp_path / "turnover").to_pyarrow_table().to_pylist()
            return sorted(tuple(row.values()) for row in rows)

        assert run(
            "CREATE TABLE orders (id bigint PRIMARY KEY, product text, amount int)",
            "INSERT INTO orders VALUES (1, 'tea', 2), (2, 'mug', 1), (3, 'tea', 1), (4, 'hat', 1)",
        ) == [("hat", 1, 1, None), ("mug", 1, 1, 1200), ("tea", 2, 3, 1350)]
        (tmp_path / "prices" / "2024.csv").write_text("product,cents\ntea,500\nmug,1200\n")
        (tmp_path / "prices" / "hats.csv").write_text("product,cents\nhat,900\n")
        assert run("DELETE FROM orders WHERE id = 2", "UPDATE orders SET amount = 5 WHERE id = 1") == [
            ("hat", 1, 1, 900),
            ("tea", 2, 6, 3000),
        ]
        version = DeltaTable(tmp_path / "turnover").version()
        run("VACUUM")  # nothing has changed, and nothing is written
        assert DeltaTable(tmp_path / "turnover").version() == version
