"""Values of every type fit it, and are few."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.rows.literals import array_of
from dbsp.testing.choices import Seeded
from dbsp.testing.domains import constants, edges, usual, value
from tests.dbsp.testing.made import a_program

UTC = pa.timestamp("us", tz="UTC")
SIMPLE = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(),
    pa.binary(), pa.date32(), UTC, pa.timestamp("us"), pa.duration("us"), MONTHS, pa.decimal128(10, 2),
    pa.decimal128(38, 0), pa.decimal128(3, 3), pa.decimal128(1, 0),
]  # fmt: skip
NESTED = [pa.list_(pa.int32()), pa.struct([("x", pa.int32()), ("y", pa.string())]), pa.map_(pa.string(), UTC)]
CONSTANTS = [100, Decimal("12.5"), "UK", "2024-05-01", "2024-05-01 10:00:00", 300, 10**12]


@pytest.mark.parametrize("data_type", SIMPLE, ids=str)
def test_values_fit_their_type(data_type):
    for known in ([], CONSTANTS):
        values = [*usual(data_type, known), *edges(data_type)]
        assert values
        assert array_of(values, data_type).null_count == 0


@pytest.mark.parametrize("data_type", [*SIMPLE, *NESTED], ids=str)
def test_any_value_fits_its_type(data_type):
    drawn = [value(Seeded(seed), data_type, CONSTANTS) for seed in range(200)]
    assert 0 < array_of(drawn, data_type).null_count < 60
    there = [value(Seeded(seed), data_type, nullable=False) for seed in range(200)]
    assert array_of(there, data_type).null_count == 0
    assert len(set(map(repr, there))) > 1


def test_a_column_takes_the_program_s_constants_and_what_is_next_to_them():
    assert {100, 99, 300, 299} < set(usual(pa.int64(), CONSTANTS))
    assert set(usual(pa.int8(), CONSTANTS)) == {0, 1, 2, 3, 100, 99}
    assert {Decimal("12.5"), Decimal("11.5"), Decimal(100)} < set(usual(pa.decimal128(10, 2), CONSTANTS))
    assert "UK" in usual(pa.string(), CONSTANTS)
    assert 100 not in usual(pa.string(), CONSTANTS)
    assert "2024-05-01" in [str(day) for day in usual(pa.date32(), CONSTANTS)]
    assert "2024-05-01 10:00:00+00:00" in [str(moment) for moment in usual(UTC, CONSTANTS)]


def test_the_ends_of_a_range_are_edges():
    assert {2**63 - 1, -(2**63)} < set(edges(pa.int64()))
    assert edges(pa.decimal128(4, 2)) == [Decimal("99.99"), Decimal("-99.99")]
    assert edges(pa.decimal128(38, 0))[0] == Decimal("9" * 38)
    assert edges(pa.bool_()) == []
    # the usual ones have two digits after the point, as far as the type has
    assert usual(pa.decimal128(10, 3)) == [Decimal(text) for text in ("0", "1.50", "-2.25", "99.99")]
    assert usual(pa.decimal128(3, 1)) == [Decimal(text) for text in ("0", "15.0", "-22.5", "99.9")]


def test_constants_are_those_of_the_text():
    text = "CREATE VIEW v AS SELECT * FROM t WHERE s = 'it''s' OR n > 12 OR n < 1.5; -- 7"
    assert constants(a_program(text)) == ["it's", 12, Decimal("1.5")]
