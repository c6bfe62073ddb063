"""RETURNING gives each written row as often as it was, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.returned import returned
from dbsp.queries.plans import Plans
from dbsp.sql.plans.program import Table
from tests.dbsp.build import table
from tests.dbsp.dml.test_defaults import NOTED

SHOP = table("shop", NOTED.schema[:2])


def _compiles() -> Any:
    raise AssertionError("columns need no compiler")


def _returned(of: Table, columns: Sequence[str], rows: list[dict[str, int]], weights: list[int]) -> list[Any]:
    schema = pa.schema([(one.name, one.type) for one in of.schema])
    written = ZSet(pa.RecordBatch.from_pylist(rows, schema), np.array(weights, dtype=np.int64))
    return returned(written, of, columns, "", Plans(_compiles, "UTC")).to_pylist()


def test_columns_in_the_order_of_the_rows() -> None:
    rows = [{"id": 3, "n": 1}, {"id": 1, "n": 2}, {"id": 2, "n": 3}]
    assert _returned(SHOP, [], rows, [1, 1, 1]) == rows
    assert _returned(SHOP, ["n"], rows, [1, 2, 0]) == [{"n": 1}, {"n": 2}, {"n": 2}]


def test_a_default_of_the_clock_is_not_known_yet() -> None:
    assert _returned(NOTED, ["id", "n"], [{"id": 1, "n": 2}], [1]) == [{"id": 1, "n": 2}]
    for columns in ([], ["at"]):
        with pytest.raises(DataError, match="column 'at' of 'noted' gets its DEFAULT with the step"):
            _returned(NOTED, columns, [{"id": 1, "n": 2}], [1])
