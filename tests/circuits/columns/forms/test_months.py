"""INTERVAL YEAR TO MONTH: a number of months within, Arrow's calendar interval outside."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.months import LEAST, MONTHS, MOST, fitting, holds_months


def test_types() -> None:
    assert all(map(holds_months, (MONTHS, pa.list_(MONTHS), pa.struct([("n", pa.int64()), ("m", MONTHS)]))))
    for other in (pa.duration("us"), pa.int64(), pa.list_(pa.duration("ms")), pa.struct([])):
        assert not holds_months(other)


def test_what_fits() -> None:
    found = fitting(np.array([LEAST - 1, LEAST, 0, MOST, MOST + 1]), MONTHS)
    assert found.tolist() == [False, True, True, True, False]
    assert fitting(np.array([2**40]), pa.int64()).tolist() == [True]
