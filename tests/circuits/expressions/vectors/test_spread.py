"""Kernels over columns: a constant has as many rows as the columns beside it, and alone it is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import _FUNCTIONS
from dbsp.circuits.expressions.vectors.spread import columnar, spread

INT = pa.int64()
CALL = Call("test_columnar", (), INT)
ONE, NULL, COLUMN = pa.scalar(1), pa.scalar(None, INT), pa.array([10, None, 30])


@pytest.fixture(params=[True, False], ids=["strict", "lenient"])
def kernel(request: Any) -> Iterator[tuple[Any, bool]]:
    """(a kernel that counts its NULLs as 0, whether it is strict)"""

    @columnar("test_columnar", strict=request.param, refuse=lambda call: "refused")
    def run(call: Call, *columns: pa.Array) -> pa.Array:
        assert all(isinstance(column, pa.Array) for column in columns)
        filled = [pc.fill_null(column, 0) for column in columns]
        return pc.add(filled[0], filled[1])

    yield _FUNCTIONS["test_columnar"].run, request.param
    assert _FUNCTIONS.pop("test_columnar").refuse(CALL) == "refused"


def test_constants_among_columns(kernel: tuple[Any, bool]) -> None:
    run, is_strict = kernel
    assert run(CALL, COLUMN, ONE).to_pylist() == run(CALL, ONE, COLUMN).to_pylist() == [11, 1, 31]
    assert run(CALL, COLUMN, COLUMN).to_pylist() == [20, 0, 60], "NULLs of columns are the kernel's"
    beside = run(CALL, COLUMN, NULL)
    assert beside == NULL if is_strict else beside.to_pylist() == [10, 0, 30]


def test_constants_alone_are_a_constant(kernel: tuple[Any, bool]) -> None:
    run, is_strict = kernel
    assert run(CALL, ONE, ONE) == pa.scalar(2)
    assert run(CALL, ONE, NULL) == (NULL if is_strict else ONE)


def test_no_rows(kernel: tuple[Any, bool]) -> None:
    run, _ = kernel
    assert run(CALL, pa.array([], INT), ONE).to_pylist() == []


def test_spread() -> None:
    assert spread(ONE, 3).to_pylist() == [1, 1, 1]
    assert spread(NULL, 2).to_pylist() == [None, None] and spread(ONE, 0).type == INT
    assert spread(COLUMN, 7) is COLUMN
