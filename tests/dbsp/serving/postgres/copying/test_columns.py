"""Values of a column, as texts and as bytes: what doesn't fit is found, and named with its row."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.serving.postgres.copying.columns import Column
from dbsp.serving.postgres.language.wrong import BadCopy
from tests.dbsp.serving.postgres.copying.test_received import received


def _column(type_: pa.DataType) -> Column:
    return Column("t", "c", type_, "Europe/Berlin")


@pytest.mark.parametrize(
    ("type_", "texts", "expected"),
    [
        (pa.string(), ["a", None], ["a", None]),
        (pa.binary(), ["\\x00fF", "plain", None], [b"\0\xff", b"plain", None]),
        (pa.int32(), ["7", None, "-1"], [7, None, -1]),
        (MONTHS, ["13", "-1-11", None], [13, -23, None]),
        (
            pa.duration("us"),
            ["1500000", None, "-1 00:00:00.5"],
            [dt.timedelta(seconds=1.5), None, dt.timedelta(-1, 0, -500_000)],
        ),
        (pa.list_(pa.int64()), ["[1, null]", None], [[1, None], None]),
        (pa.timestamp("us", "UTC"), ["2024-07-01 02:00:00"], [dt.datetime(2024, 7, 1, tzinfo=dt.UTC)]),
    ],
)
def test_texts(type_: pa.DataType, texts: list[str | None], expected: list[object]) -> None:
    assert _column(type_).of_texts(pa.array(texts), 0).to_pylist() == expected
    if not pa.types.is_binary(type_) and type_ not in (pa.int32(), pa.timestamp("us", "UTC")):
        sent = received([None if text is None else text.encode() for text in texts])
        assert _column(type_).of_binary(sent, 0).to_pylist() == expected


def test_decimals_are_rounded_half_up() -> None:
    # 0.125, -0.125, 99.994999
    values = [(0, 0, [1250], -1), (0, 0x4000, [1250], -1), (0, 0, [99, 9949, 9900], 0)]
    sent = [
        struct.pack(f"!hhHh{len(groups)}h", len(groups), weight, sign, 6, *groups)
        for _, sign, groups, weight in values
    ]
    found = _column(pa.decimal128(5, 2)).of_binary(received(sent), 0)
    assert found.to_pylist() == [Decimal("0.13"), Decimal("-0.13"), Decimal("99.99")]


@pytest.mark.parametrize("at", [0, 1, 6, 7])
def test_the_first_that_doesn_t_fit(at: int) -> None:
    texts = ["1"] * at + ["x", "2", "y"]
    with pytest.raises(BadCopy, match=rf"table 't', row {100 + at + 1}: 'x' doesn't fit column 'c' \(INT\)"):
        _column(pa.int32()).of_texts(pa.array(texts), 100)
    sent = [b"\0\0\0\1"] * at + [b"\0\1", b"\0\0\0\1"]
    with pytest.raises(BadCopy, match=rf"row {100 + at + 1}: 2 bytes 0x0001 doesn't fit column 'c' \(INT\)"):
        _column(pa.int32()).of_binary(received(sent), 100)


def test_long_values_are_cut_and_texts_are_utf8() -> None:
    with pytest.raises(BadCopy, match=r"row 1: 'x{76}\.\.\. doesn't fit"):
        _column(pa.int32()).of_texts(pa.array(["x" * 1000]), 0)
    with pytest.raises(BadCopy, match="rows 6 to 7 is no UTF-8"):
        _column(pa.string()).of_binary(received([b"a", b"\xff"]), 5)


def test_json_that_python_can_not_read_is_named() -> None:
    with pytest.raises(BadCopy, match=r"row 2: '\[1e9{20}\]' doesn't fit column 'c' \(ARRAY<DOUBLE>\)"):
        texts = pa.array(["[1.5]", f"[1e{'9' * 20}]"])
        _column(pa.list_(pa.float64())).of_texts(texts, 0)
