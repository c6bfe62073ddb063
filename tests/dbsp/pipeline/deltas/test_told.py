"""A bad row is told as often as it was there at one time, whatever looks and restarts there were.

Nor does it count what the reason is called.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.inputs.bad import REFUSED_SCHEMA
from dbsp.pipeline.deltas.told import Told
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.queue import weighted
from tests.dbsp.build import pipeline
from tests.dbsp.pipeline.deltas.test_absences import voting

LOOK = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from("xy")), max_size=6)


def rows_of(look: list[tuple[int, str, str]], relation: str = "votes") -> pa.RecordBatch:
    columns = [[relation] * len(look), [f"row {place}" for place, _, _ in look]]
    columns += [[text for _, text, _ in look], [reason for _, _, reason in look]]
    return pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in columns], schema=REFUSED_SCHEMA)


def refuse(p: Pipeline, rows: pa.RecordBatch) -> None:
    p.refuse(weighted(rows, np.ones(rows.num_rows, np.int64)))
    p.step()


@given(st.lists(st.tuples(LOOK, st.booleans()), max_size=4))
def test_each_is_told_once(looks: list[tuple[list[Any], bool]]) -> None:
    most: Counter[Any] = Counter()
    with pipeline(program=voting()) as p:
        told = Told(lambda: p.view("bad_rows"))
        refuse(p, rows_of([(1, "a", "x")], "others"))
        for look, is_lost in looks:
            new = told.untold("votes", rows_of(look))
            if is_lost:  # as by a step that wasn't made, or a restart before it was
                told.forget()
                new = told.untold("votes", rows_of(look))
            most |= Counter(text for _, text, _ in look)
            if new.num_rows:
                refuse(p, new)
            kept = [row for row in p["bad_rows"].rows() if row["relation"] == "votes"]
            assert Counter(row["text"] for row in kept) == most
            assert {row["origin"] for row in new.to_pylist()} <= {f"row {place}" for place, _, _ in look}
