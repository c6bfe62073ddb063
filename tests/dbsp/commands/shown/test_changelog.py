"""The changelog's bytes, and that its values read back to what they were."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.json_text import encode
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.traces.zset import ZSet
from dbsp.commands.shown.changelog import json_lines, json_lines_of_view, text_lines
from dbsp.rows.json_values import decode
from dbsp.rows.literals import array_of
from dbsp.rows.sorting import sort_rows
from dbsp.views.changes import ViewChanges
from tests.dbsp.build import pipeline

TIMESTAMP = pa.timestamp("us", tz="UTC")
PAIR = pa.struct([("x", pa.float64()), ("y", pa.list_(pa.date32()))])

VALUES = [
    (pa.bool_(), True, "true"),
    (pa.int8(), -128, "-128"),
    (pa.int64(), 2**63 - 1, "9223372036854775807"),
    (pa.float64(), 0.1, "0.1"),
    (pa.float64(), 1e300, "1e+300"),
    (pa.float64(), -0.0, "-0.0"),
    (pa.float64(), math.inf, '"Infinity"'),
    (pa.float64(), -math.inf, '"-Infinity"'),
    (pa.float32(), 0.5, "0.5"),
    (pa.decimal128(10, 2), Decimal("12.50"), '"12.50"'),
    (pa.decimal128(38, 0), Decimal(10**37), f'"{10**37}"'),
    (pa.decimal128(38, 20), Decimal("1e-20"), '"0.00000000000000000001"'),
    (pa.string(), 'a"\\\n\u2028ä日', '"a\\"\\\\\\n\u2028ä日"'),
    (pa.binary(), b"\x00\xff", '"AP8="'),
    (pa.date32(), date(2024, 2, 29), '"2024-02-29"'),
    (TIMESTAMP, datetime(2024, 2, 29, 10, tzinfo=UTC), '"2024-02-29T10:00:00Z"'),
    (TIMESTAMP, datetime(1969, 12, 31, 23, 59, 59, 5, tzinfo=UTC), '"1969-12-31T23:59:59.000005Z"'),
    (pa.timestamp("us"), datetime(2024, 2, 29, 10), '"2024-02-29T10:00:00"'),
    (pa.duration("us"), timedelta(days=-1, microseconds=1), "-86399999999"),
    (MONTHS, timedelta(seconds=14), "14"),
    (MONTHS, timedelta(seconds=-(2**31)), "-2147483648"),
    (pa.list_(MONTHS), [timedelta(seconds=14), None], "[14, null]"),
    (pa.list_(pa.int32()), [1, None], "[1, null]"),
    (pa.list_(pa.int32()), [], "[]"),
    (PAIR, {"x": 1.5, "y": [date(2024, 1, 1)]}, '{"x": 1.5, "y": ["2024-01-01"]}'),
    (pa.map_(pa.int32(), pa.string()), [(1, "a"), (2, None)], '[[1, "a"], [2, null]]'),
]


@pytest.mark.parametrize(("type_", "value", "text"), VALUES, ids=[text for _, _, text in VALUES])
def test_a_value_is_written_so_and_reads_back(type_, value, text):
    array = pa.array([None, value, None, value], type_).slice(1)
    assert encode(array) == [text, "null", text]
    read = [decode(json.loads(line, parse_float=Decimal), type_) for line in encode(array)]
    assert array_of(read, type_).equals(array)


def test_nan_reads_back_as_nan():
    (text,) = encode(pa.array([math.nan]))
    assert text == '"NaN"'
    assert math.isnan(decode(json.loads(text), pa.float64()))


@given(st.floats(allow_nan=False) | st.floats(allow_nan=False, width=32))
def test_every_double_reads_back(value):
    (text,) = encode(pa.array([value], pa.float64()))
    assert decode(json.loads(text, parse_float=Decimal), pa.float64()) == value


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.int64(), [None, -2, 1, 10]),
        (pa.float64(), [None, -math.inf, -1.5, 0.0, 2.0, math.inf, math.nan]),
        (pa.decimal128(5, 2), [None, Decimal("-10.00"), Decimal("2.50"), Decimal("10.00")]),
        (pa.string(), [None, "", "B", "a", "ab", "ä", "日"]),
        (pa.binary(), [None, b"", b"\x00", b"\xff"]),
        (pa.bool_(), [None, False, True]),
        (pa.date32(), [None, date(1969, 1, 1), date(2024, 1, 1)]),
        (pa.list_(pa.int32()), [None, [], [None], [1], [1, 2], [2]]),
        (pa.struct([("x", pa.float64())]), [None, {"x": None}, {"x": 1.0}, {"x": math.nan}]),
    ],
)
def test_the_order_of_rows(type_, values):
    for order in ([*range(len(values))][::-1], [2, 0, 1, *range(3, len(values))]):
        array = pa.array([values[i] for i in order], type_)
        delta = ZSet(pa.RecordBatch.from_arrays([array], ["x"]), np.ones(len(values), np.int64))
        assert repr(sort_rows(delta).rows.column(0).to_pylist()) == repr(pa.array(values, type_).to_pylist())


def test_columns_are_ordered_from_the_left_then_by_weight():
    rows = pa.RecordBatch.from_pydict({"a": [2, 1, 1, 1], "b": ["x", "z", "y", "y"]})
    ordered = sort_rows(ZSet(rows, np.array([1, 1, 5, -5])))
    assert [*zip(*ordered.rows.to_pydict().values(), ordered.weights.tolist(), strict=True)] == [
        (1, "y", -5),
        (1, "y", 5),
        (1, "z", 1),
        (2, "x", 1),
    ]


def test_lines():
    with pipeline() as p:
        p.insert("votes", [(2, 1), (1, None), (1, None)])
        p.insert("customer", [{"id": 7, "name": "Ada B", "joined": datetime(2024, 1, 1)}])
        p.insert("event", [(1, Decimal("-0.50"))])
        first = p.step()
        assert list(json_lines(first)) == [
            '{"step": 1, "view": "all_votes", "row": {"user_id": 1, "story_id": null}, "weight": 2}',
            '{"step": 1, "view": "all_votes", "row": {"user_id": 2, "story_id": 1}, "weight": 1}',
            '{"step": 1, "view": "counts", "row": {"story_id": null, "n": 2}, "weight": 1}',
            '{"step": 1, "view": "counts", "row": {"story_id": 1, "n": 1}, "weight": 1}',
            '{"step": 1, "view": "customers", "row": {"id": 7, "name": "Ada B", '
            '"joined": "2024-01-01T00:00:00Z"}, "weight": 1}',
            '{"step": 1, "view": "events", "row": {"id": 1, "amount": "-0.50"}, "weight": 1}',
        ]
        assert list(text_lines(first)) == [
            "step 1",
            "  all_votes  +2  user_id=1 story_id=NULL",
            "  all_votes  +1  user_id=2 story_id=1",
            "  counts  +1  story_id=NULL n=2",
            "  counts  +1  story_id=1 n=1",
            '  customers  +1  id=7 name="Ada B" joined=2024-01-01T00:00:00Z',
            "  events  +1  id=1 amount=-0.50",
        ]
        assert list(text_lines(p.step())) == ["step 2"]


def test_a_text_that_looks_like_something_else_keeps_its_quotes():
    words = ["NULL", "true", "a b", "", 'q"', "x=1", "plain"]
    delta = ZSet(pa.RecordBatch.from_pydict({"s": words}), np.ones(len(words), np.int64))
    changes = ViewChanges("v", delta.schema, [delta])
    shown = [json.loads(line)["row"]["s"] for line in json_lines_of_view(1, changes)]
    assert shown == sorted(words)
