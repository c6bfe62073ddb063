"""The example with Kafka and Postgres, run as it stands: the table is the join of what the messages say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.jars import connector
from tests.servers.kafka import kafka, send
from tests.servers.postgres import postgres

EXAMPLE = Path(__file__).parents[2] / "examples" / "debezium"


@pytest.mark.spark
@pytest.mark.slow
def test_what_debezium_says_is_in_postgres(spark: Any, tmp_path: Path) -> None:
    for file in EXAMPLE.iterdir():
        shutil.copy(file, tmp_path)
    changes = [json.loads(line) for line in (EXAMPLE / "changes.jsonl").read_text().splitlines()]
    with kafka() as broker, postgres() as server:
        where = {"BROKER": broker.servers, "POSTGRES": server.url}
        # the jars that `make servers` fetched, instead of the package
        options = ["--once", "--packages", "", "--jars", ",".join(connector())]
        command = [sys.executable, "-m", "dbsp.commands.cli", "run", "replica.sql", *options]

        def run(given: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
            for topic in ("shop.customer", "shop.orders"):
                sent = [
                    (_text(each["key"]), _text(each["value"])) for each in given if each["topic"] == topic
                ]
                send(spark, broker, topic, sent)
            done = subprocess.run(
                command,
                cwd=tmp_path,
                env={**os.environ, **where},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return server.rows("SELECT country, orders, cents FROM turnover ORDER BY country")

        assert run(changes[:5]) == [("FR", 1, 1525), ("UK", 2, 21950)]
        assert run(changes[5:]) == [("FR", 3, 22700)]


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value)
