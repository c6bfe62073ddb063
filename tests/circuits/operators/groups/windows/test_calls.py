"""What a window function is: a value, of which the user's spelling says nothing."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.groups.aggregates.collected import Mode
from dbsp.circuits.operators.groups.windows.calls import WHOLE, Frame, Gathered, WindowFunction

SUM = WindowFunction("sum", pa.int64(), (SortKey(1),), (2,), Frame(True, -1, 1), text="sum(x) OVER w")


@pytest.mark.parametrize(
    ("frame", "whole"),
    [
        (WHOLE, True),
        (Frame(False), True),
        (Frame(lower=0), False),
        (Frame(upper=0), False),
        (Frame(False, Column(0, pa.int64()), None), False),
    ],
)
def test_a_frame_without_edges_is_the_whole_partition(frame: Frame, whole: bool) -> None:
    assert frame.is_whole == whole


def test_equal_functions_are_one_value() -> None:
    written = WindowFunction("sum", pa.int64(), (SortKey(1),), (2,), Frame(True, -1, 1), text="SUM(x)")
    assert written == SUM and hash(SUM) == hash(written)
    assert pickle.loads(pickle.dumps(SUM)) == SUM
    others = [
        WindowFunction("sum", pa.int64(), (SortKey(1),), (2,), Frame(False, 0, 0)),
        WindowFunction("sum", pa.int64(), (SortKey(1),), (2,), Frame(True, -1, 1), lenient=True),
        WindowFunction("sum", pa.int64(), (SortKey(1),), (2,), Frame(True, -1, 1), filtered=True),
        WindowFunction("", pa.int64(), values=Gathered(Mode())),
        WindowFunction("", pa.int64(), values=Gathered(Mode(), (0,))),
    ]
    assert len({SUM, *others}) == 1 + len(others)
