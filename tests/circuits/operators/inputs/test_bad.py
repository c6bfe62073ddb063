"""`Numbered`: what sources refuse, with the number of the step and nothing else changed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.operators.inputs.bad import BAD_SCHEMA, REFUSED_SCHEMA, Numbered
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.zset import ZSet

ROWS = [("t", "a.csv", "1,x", "no number"), ("t", "b.csv", "", "no value")]


def numbered(rows: list[tuple[str, str, str, str]], step: int) -> ZSet:
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(4)]
    given = pa.RecordBatch.from_arrays(columns, schema=REFUSED_SCHEMA)
    out = Numbered().step(Context(0, step, None, True), ZSet(given, np.ones(len(rows), np.int64)))
    assert isinstance(out, ZSet)
    return out


def test_each_row_has_the_step() -> None:
    out = numbered(ROWS, 7)
    assert out.schema == BAD_SCHEMA
    assert [tuple(row.values()) for row in out.rows.to_pylist()] == [(t, 7, *rest) for t, *rest in ROWS]


def test_nothing_of_nothing() -> None:
    assert not len(numbered([], 1))


def test_columns_come_from_where_they_were() -> None:
    schema = Numbered().schema(REFUSED_SCHEMA)
    for i, field in enumerate(schema):
        origin = Numbered().origin(i, REFUSED_SCHEMA)
        assert origin is None if field.name == "step" else REFUSED_SCHEMA[origin[1]] == field
