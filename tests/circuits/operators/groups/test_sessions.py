"""Sessions: rows whose intervals touch belong together, under any insertions and deletions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.groups import sessions
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options
from tests.generators.columns.zsets import Naive, naive_of
from tests.laws.operators_laws import Deltas, check, circuit_of, hash_seeds, options

pytestmark = pytest.mark.usefixtures("worth")

SCHEMA = pa.schema([("k", pa.int32()), ("start", pa.int64()), ("end", pa.int64())])
OUTPUT = pa.schema([*SCHEMA, ("session_start", pa.int64()), ("session_end", pa.int64())])

Row = tuple[int | None, int, int]
rows = st.tuples(
    st.sampled_from([None, 0, 1]), st.integers(0, 14), st.integers(0, 3), st.sampled_from([1, 1, 1, 2, -1])
)


def zset(weighted: list[tuple[int | None, int, int, int]]) -> ZSet:
    """(k, start, length, weight)"""
    keys, starts, lengths, weights = zip(*weighted, strict=True) if weighted else ((), (), (), ())
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    columns = [pa.array(keys, pa.int32()), pa.array(starts, pa.int64()), pa.array(ends, pa.int64())]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array(weights, dtype=np.int64))


def joined(table: Naive) -> Naive:
    """Every row with its session, found by joining what touches until nothing does."""
    found = Naive()
    for key in {row[1] for row in table}:
        there = {row: n for row, n in table.items() if row[1] == key}
        spans = [[row[2], row[3]] for row, n in there.items() if n > 0]
        merging = True
        while merging:
            merging = False
            for a in spans:
                for b in spans:
                    if a is not b and a[0] <= b[1] and b[0] <= a[1]:
                        a[:] = [min(a[0], b[0]), max(a[1], b[1])]
                        spans.remove(b)
                        merging = True
                        break
                if merging:
                    break
        for row, n in there.items():
            own = next(([a, b] for a, b in spans if n > 0 and a <= row[2] <= b), list(row[2:]))
            found[(*row, *own)] = n
    return found


def build(builder: CircuitBuilder, table: int) -> int:
    return builder.add(Sessions((0,), 1, 2, OUTPUT), builder.placed(table, (0,)))


deltas = st.lists(st.lists(rows, max_size=6).map(lambda drawn: {"t": zset(drawn)}), min_size=1, max_size=5)


@given(deltas, options, hash_seeds)
def test_sessions_of_any_deltas(stream: list[Deltas], way: Options, seed: int) -> None:
    check(circuit_of({"t": SCHEMA}, build, seed), stream, joined, way)


def test_only_touched_sessions_are_worked_out_again(tmp_path: Path, monkeypatch: Any) -> None:
    """Of a thousand sessions of a key, the two that a row joins."""
    engine = Engine(circuit_of({"t": SCHEMA}, build), tmp_path)
    engine.step({"t": zset([(0, 10 * i, 3, 1) for i in range(1000)])})
    worked: list[int] = []
    merged = sessions._merged

    def counting(*arguments: Any) -> Any:
        worked.append(len(arguments[0]))
        return merged(*arguments)

    monkeypatch.setattr(sessions, "_merged", counting)
    changed = naive_of(engine.step({"t": zset([(0, 5003, 7, 1)])})["v"])
    assert worked == [3]
    assert changed == Naive(
        {
            ("list", 0, 5000, 5003, 5000, 5003): -1,
            ("list", 0, 5010, 5013, 5010, 5013): -1,
            ("list", 0, 5000, 5003, 5000, 5013): 1,
            ("list", 0, 5003, 5010, 5000, 5013): 1,
            ("list", 0, 5010, 5013, 5000, 5013): 1,
        }
    )
