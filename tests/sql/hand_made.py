"""Plans put together by hand, and what they are of small random bags, in this process."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.nodes import Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Field, Schema, arrow_schema
from dbsp.sql.plans.verify import verify
from tests.circuits.engine import Engine

INT, BOOL = pa.int64(), pa.bool_()
Bag = list[tuple[Any, ...]]


def schema(*columns: str) -> Schema:
    return tuple(Field(column, INT) for column in columns)


def column(index: int) -> Column:
    return Column(index, INT)


def literal(value: int | None) -> Literal:
    return Literal(value, INT)


def call(function: str, *arguments: Expression, type_: pa.DataType = INT) -> Call:
    return Call(function, arguments, type_)


def positive(index: int) -> Call:
    return call("greater_than", column(index), literal(0), type_=BOOL)


def project(input_: Plan, *expressions: Expression, names: str = "wxyz") -> Project:
    return Project(
        input_, expressions, tuple(Field(n, e.type) for n, e in zip(names, expressions, strict=False))
    )


T, U = Scan("t", schema("a", "b", "c", "d")), Scan("u", schema("a", "b", "c", "d"))


def table(scan: Scan, key: tuple[str, ...] = (), append_only: bool = False) -> Table:
    return Table(scan.relation, scan.schema, key, append_only, False, None, {}, "p.sql:1:1")


def view(name: str, plan: Plan, **given: Any) -> View:
    return View(name, plan.schema, "view", plan, False, "p.sql:2:1", **given)


def rows_of(plan: Plan, bags: dict[str, Bag]) -> Counter[tuple[Any, ...]]:
    """The plan's rows, kept incrementally: the bags come in two steps, with rows that go again."""
    verify(plan)
    scans = {"t": T, "u": U}
    circuit = lower({name: table(scans[name]) for name in sorted(plan.scanned())}, {"v": view("v", plan)})
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(circuit, Path(folder))
        for rows, extra, weight in ((slice(None, 8), slice(6, 10), 1), (slice(8, None), slice(6, 10), -1)):
            engine.step(
                {
                    name: delta_of(scans[name], bags[name][rows], bags[name][extra], weight)
                    for name in plan.scanned()
                }
            )
        found = engine.view("v")
    columns = [column.to_pylist() for column in found.rows.columns]
    counted: Counter[tuple[Any, ...]] = Counter()
    for row, weight in zip(zip(*columns, strict=True), found.weights.tolist(), strict=True):
        counted[tuple(map(_hashable, row))] += weight
    return counted


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return tuple(value.items()) if isinstance(value, dict) else value


def delta_of(scan: Scan, rows: Bag, extra: Bag, weight: int) -> ZSet:
    """A change: the rows, and others with a weight."""
    columns = [[row[i] for row in (*rows, *extra)] for i in range(len(scan.schema))]
    batch = pa.RecordBatch.from_arrays([pa.array(c, INT) for c in columns], schema=arrow_schema(scan.schema))
    return ZSet(batch, np.repeat([1, weight], [len(rows), len(extra)]))


def random_bags(seed: int, count: int = 14) -> dict[str, Bag]:
    """Of the tables T and U: small values that often agree, and NULLs."""
    choose = random.Random(seed)
    values = (-1, 0, 1, 2, 3, None)
    return {name: [tuple(choose.choices(values, k=4)) for _ in range(count)] for name in ("t", "u")}


def by_duckdb(query: str, bags: dict[str, Bag]) -> Counter[tuple[Any, ...]]:
    """The rows of a query over the same bags. Orders say where their NULLs are: DuckDB's are not Spark's."""
    database = _holding(tuple((name, tuple(rows)) for name, rows in bags.items()))
    return Counter(database.execute(query).fetchall())


@lru_cache(maxsize=8)
def _holding(bags: tuple[tuple[str, tuple[Any, ...]], ...]) -> Any:
    """A database of these tables."""
    connection = duckdb.connect()
    for name, rows in bags:
        connection.execute(f"CREATE TABLE {name} (a BIGINT, b BIGINT, c BIGINT, d BIGINT)")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)
    return connection


def assert_same_rows(before: Plan, after: Plan, seeds: int = 1) -> None:
    """A rule's result is the same relation."""
    for seed in range(seeds):
        bags = random_bags(seed)
        assert rows_of(after, bags) == rows_of(before, bags), seed


def assert_as_duckdb(plan: Plan, query: str, seed: int = 0) -> None:
    """The plan's rows are the query's."""
    bags = random_bags(seed)
    found, expected = rows_of(plan, bags), by_duckdb(query, bags)
    assert found == expected, (found - expected, expected - found)
