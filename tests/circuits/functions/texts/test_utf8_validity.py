"""Strings that needn't be UTF-8, against Python's decoder."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from tests.circuits.columns.forms.test_broken_text import columns, is_utf8

TEXT = pa.string()
IS, MAKE = "static_invoke.string.isValid", "static_invoke.string.makeValid"
TRY, VALIDATE = (
    f"static_invoke.ExpressionImplUtils.{name}" for name in ("tryValidateUTF8String", "validateUTF8String")
)


def of(name: str, values: list[bytes | None], data_type: pa.DataType = TEXT) -> list[Any]:
    strings = pa.array(values, pa.binary()).view(TEXT)
    rows = pa.RecordBatch.from_arrays([strings], names=["x"])
    found = evaluate(Call(name, (Column(0, TEXT),), data_type), rows)
    return (found.view(pa.binary()) if data_type == TEXT else found).to_pylist()  # type: ignore[no-any-return]


@given(columns)
def test_of_each_value(values: list[bytes | None]) -> None:
    valid = [None if value is None else is_utf8(value) for value in values]
    assert of(IS, values, pa.bool_()) == valid
    made = [None if value is None else value.decode(errors="replace").encode() for value in values]
    assert of(MAKE, values) == made
    assert of(TRY, values) == [value if good else None for value, good in zip(values, valid, strict=True)]


@given(columns)
def test_the_first_that_is_none_is_named(values: list[bytes | None]) -> None:
    bad = [i for i, value in enumerate(values) if value is not None and not is_utf8(value)]
    if not bad:
        assert of(VALIDATE, values) == values
        return
    with pytest.raises(EvaluationError, match="INVALID_UTF8_STRING") as raised:
        of(VALIDATE, values)
    assert raised.value.row == bad[0]
