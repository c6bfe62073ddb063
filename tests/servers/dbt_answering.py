"""Run by dbt's own Python: a line asks for a command of dbt or a statement of SQL, another answers it."""

from __future__ import annotations

import json
import sys
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession


def command(arguments: list[str]) -> list[tuple[str, str, str]]:
    """Of each node its name, its status and its message."""
    found = dbtRunner().invoke(["--quiet", *arguments])
    if found.exception is not None:
        raise found.exception
    results: Any = found.result
    return [(one.node.name, str(one.status), str(one.message)) for one in results.results]


def statement(text: str) -> list[Any]:
    """Rows as texts."""
    rows = SparkSession.builder.enableHiveSupport().getOrCreate().sql(text)
    return sorted(repr(tuple(row)) for row in rows.collect())


for line in sys.stdin:
    asked = json.loads(line)
    answer = command(asked["command"]) if "command" in asked else statement(asked["sql"])
    print(f"\nanswer {json.dumps(answer)}", flush=True)
