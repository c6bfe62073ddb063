"""Parts of intervals side by side: as integers, and only where they fit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors.calendar import combined, intervals, parts_of

SUM = Call("add", (), CALENDAR_INTERVAL, options=(("evalMode", "ANSI"),))


def test_part_by_part() -> None:
    a, b = pa.array([(1, -2, 3), None], CALENDAR_INTERVAL), pa.array([(10, 20, 30)] * 2, CALENDAR_INTERVAL)
    assert combined(SUM, a, b, np.add) == pa.array([(11, 18, 33), None], CALENDAR_INTERVAL)
    parts = parts_of(a)
    assert [part.tolist() for part in parts.each] == [[1, 0], [-2, 0], [3, 0]]
    assert parts.valid.tolist() == [True, False]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_out_of_range(place: int) -> None:
    most = [2**31 - 1, 2**31 - 1, 2**63 - 1]
    numbers = [np.array([most[i] + (i == place)], object) for i in range(3)]
    with pytest.raises(EvaluationError, match="out of range"):
        intervals(SUM, numbers, np.ones(1, np.bool_))
    tried = Call("add", (), CALENDAR_INTERVAL, options=(("evalMode", "TRY"),))
    assert intervals(tried, numbers, np.ones(1, np.bool_)).null_count == 1
    assert intervals(SUM, numbers, np.zeros(1, np.bool_)).null_count == 1
