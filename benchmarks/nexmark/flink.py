"""Flink on the queries, from CSV files: run by an environment that has `apache-flink`, and nothing of ours.

    FLINK/bin/python benchmarks/nexmark/flink.py DATA WARM QUERY...

DATA, WARM: directories of {person,auction,bid}/*.csv; WARM's few events are run first, so that what is
timed is compiled. Prints a JSON object {query: seconds}. The state is on the heap, there are no
checkpoints, results are thrown away, two tasks run side by side.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

COLUMNS = {
    "person": "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,"
    " `dateTime` TIMESTAMP(3), extra STRING",
    "auction": "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,"
    " `dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3),"
    " extra STRING",
}
QUERIES = dict(
    each.split(":", 1) for each in Path(__file__).with_name("flink.sql").read_text().split("-- query ")[1:]
)


def seconds(data: Path, query: str) -> float:
    """Of the whole job, from its submission to its end."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", "2")
    for table, columns in COLUMNS.items():
        tables.execute_sql(
            f"CREATE TABLE {table} ({columns}, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND)"
            f" WITH ('connector' = 'filesystem', 'path' = 'file://{data / table}', 'format' = 'csv')"
        )
    began = time.perf_counter()
    tables.execute_sql(f"CREATE TABLE nothing WITH ('connector' = 'blackhole') AS {QUERIES[query]}").wait()
    return time.perf_counter() - began


def main(data: str, warm: str, *queries: str) -> None:
    found = {}
    for query in queries:
        seconds(Path(warm), query)
        found[query] = seconds(Path(data), query)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
