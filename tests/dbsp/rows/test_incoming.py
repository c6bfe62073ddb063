"""What is taken as rows of a table, and what is said about the rest."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import CALENDAR, MONTHS
from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.rows.incoming import key_rows, whole_rows
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import CUSTOMER, table

TIMESTAMP = pa.timestamp("us", tz="UTC")
ACCOUNT = table(
    "account",
    (
        Field("id", pa.int64(), False),
        Field("Name", pa.string()),
        Field("rate", pa.float64()),
        Field("amount", pa.decimal128(5, 2)),
        Field("at", TIMESTAMP),
    ),
)
ROW = {"id": 1, "Name": "a", "rate": 0.5, "amount": Decimal("1.50"), "at": datetime(2024, 1, 1, tzinfo=UTC)}
Pair = namedtuple("Pair", "b a")


def one(type_: pa.DataType):
    return table("t", (Field("x", type_),))


def read(type_: pa.DataType, *values):
    return whole_rows(one(type_), [(value,) for value in values]).column(0).to_pylist()


def arrow(rows):
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize(
    "shape",
    [
        lambda row: [row],
        lambda row: [tuple(row.values())],
        lambda row: iter([row]),
        lambda row: [{name.upper(): value for name, value in reversed(row.items())}],
        lambda row: arrow([row]),
        lambda row: arrow([row]).to_batches()[0],
        lambda row: arrow([row]).to_reader(),
        lambda row: arrow([row]).select(["at", "rate", "Name", "id", "amount"]),
        lambda row: arrow([row]).to_pandas().set_index(pd.Index([7])),
    ],
    ids=["dict", "tuple", "iterator", "case", "Table", "RecordBatch", "reader", "order", "pandas"],
)
def test_every_shape_gives_the_same_batch(shape):
    assert whole_rows(ACCOUNT, shape(ROW)).to_pylist() == [ROW]


def test_a_duckdb_relation_is_arrow_shaped():
    relation = duckdb.sql("SELECT 7 AS user_id, 8 AS story_id")
    votes = table("votes", (Field("user_id", pa.int64()), Field("story_id", pa.int64())))
    assert whole_rows(votes, relation).to_pylist() == [{"user_id": 7, "story_id": 8}]


def test_named_tuples_go_by_name():
    ab = table("t", (Field("a", pa.int64()), Field("b", pa.int64())))
    assert whole_rows(ab, [Pair(b=2, a=1)]).to_pylist() == [{"a": 1, "b": 2}]


def test_dicts_may_leave_out_columns_that_can_be_null():
    assert whole_rows(ACCOUNT, [{"id": 1}, {"ID": 2, "rate": 3}]).to_pylist() == [
        {"id": 1, "Name": None, "rate": None, "amount": None, "at": None},
        {"id": 2, "Name": None, "rate": 3.0, "amount": None, "at": None},
    ]


@pytest.mark.parametrize("nothing", [[], (), arrow([ROW]).slice(0, 0)])
def test_no_rows(nothing):
    assert whole_rows(ACCOUNT, nothing).num_rows == 0


@pytest.mark.parametrize(
    ("type_", "given", "kept"),
    [
        (pa.int8(), 3.0, 3),
        (pa.int64(), Decimal("3.00"), 3),
        (pa.int64(), np.int32(3), 3),
        (pa.float64(), 3, 3.0),
        (pa.float64(), Decimal("0.5"), 0.5),
        (pa.float64(), 2**70, 2.0**70),
        (pa.float32(), 0.5, 0.5),
        (pa.decimal128(5, 2), 0.1, Decimal("0.10")),
        (pa.decimal128(38, 0), 10**37, Decimal(10**37)),
        (pa.decimal128(5, 2), np.float64(1.5), Decimal("1.50")),
        (pa.bool_(), np.bool_(True), True),
        (pa.binary(), bytearray(b"x"), b"x"),
        (pa.date32(), np.datetime64("2024-01-02"), date(2024, 1, 2)),
        (pa.timestamp("us"), datetime(2024, 1, 1), datetime(2024, 1, 1)),
        (pa.timestamp("us"), date(2024, 1, 1), datetime(2024, 1, 1)),
        (pa.timestamp("us"), np.datetime64("2024-01-01T00:00:01"), datetime(2024, 1, 1, 0, 0, 1)),
        (pa.duration("us"), timedelta(seconds=1), timedelta(seconds=1)),
        (MONTHS, 14, timedelta(seconds=14)),
        (MONTHS, np.int8(-1), timedelta(seconds=-1)),
        (MONTHS, pa.MonthDayNano([-25, 0, 0]), timedelta(seconds=-25)),
        (pa.struct([("y", MONTHS)]), {"y": pa.MonthDayNano([14, 0, 0])}, {"y": timedelta(seconds=14)}),
        (pa.list_(pa.int32()), (1, None), [1, None]),
        (pa.struct([("a", pa.int32()), ("b", pa.string())]), {"b": "x"}, {"a": None, "b": "x"}),
        (pa.map_(pa.string(), pa.int32()), {"a": 1}, [("a", 1)]),
    ],
)
def test_values_that_arrive_unchanged_are_taken(type_, given, kept):
    assert read(type_, given, None) == [kept, None]


def test_pandas_own_values_in_dicts():
    """As `to_dict("records")` has them."""
    given = [{"id": 1, "Name": pd.NA, "at": pd.NaT}, {"id": 2, "at": pd.Timestamp("2024-01-01 10:00")}]
    none, moment = whole_rows(ACCOUNT, given).to_pylist()
    assert (none["Name"], none["at"]) == (None, None)
    assert moment["at"] == datetime(2024, 1, 1, 10, tzinfo=UTC)
    with pytest.raises(DataError, match=r"row 0: .* column 'at' .* finer than a microsecond"):
        whole_rows(ACCOUNT, [{"id": 1, "at": pd.Timestamp("2024-01-01 10:00:00.123456789")}])
    with pytest.raises(DataError, match=r"row 0: no value; .* 'id' \(BIGINT NOT NULL\)"):
        whole_rows(ACCOUNT, [{"id": pd.NA}])


def test_datetimes_without_a_zone_are_in_the_program_s():
    moments = one(TIMESTAMP)
    naive, aware = datetime(2024, 6, 1, 12), datetime(2024, 6, 1, 12, tzinfo=timezone(timedelta(hours=5)))
    for rows in ([(naive,), (aware,)], [{"x": naive}, {"x": aware}]):
        read_ = whole_rows(moments, rows, "Europe/Berlin").column(0).to_pylist()
        assert read_ == [datetime(2024, 6, 1, 10, tzinfo=UTC), datetime(2024, 6, 1, 7, tzinfo=UTC)]
    column = pa.table({"x": pa.array([naive])})
    assert whole_rows(moments, column, "Europe/Berlin").column(0).to_pylist() == [
        datetime(2024, 6, 1, 10, tzinfo=UTC)
    ]


@pytest.mark.parametrize(
    ("given", "type_", "kept"),
    [
        (pa.array([1, 2], pa.uint8()), pa.int64(), [1, 2]),
        (pa.array([2**63], pa.uint64()), pa.decimal128(19, 0), [Decimal(2**63)]),
        (pa.array([1, 2], pa.int64()), pa.int8(), [1, 2]),
        (pa.array([1.0, None, 2.0]), pa.int32(), [1, None, 2]),
        (pa.array([0.5, None]), pa.float32(), [0.5, None]),
        (pa.array([0.1, 99.99]), pa.decimal128(5, 2), [Decimal("0.10"), Decimal("99.99")]),
        (pa.array([Decimal("99.99")]), pa.float64(), [99.99]),
        (pa.array(["a", None]).dictionary_encode(), pa.string(), ["a", None]),
        (pa.array(["a"], pa.large_string()), pa.string(), ["a"]),
        (pa.array([1_000], pa.timestamp("ns")), pa.timestamp("us"), [datetime(1970, 1, 1, 0, 0, 0, 1)]),
        (pa.array([date(2024, 1, 2)]), TIMESTAMP, [datetime(2024, 1, 2, tzinfo=UTC)]),
        (pa.array([None, None]), pa.list_(pa.int32()), [None, None]),
        (pa.array([14, None], pa.int16()), MONTHS, [timedelta(seconds=14), None]),
        (pa.array([(14, 0, 0), None], CALENDAR), MONTHS, [timedelta(seconds=14), None]),
        (pa.array([None]), MONTHS, [None]),
        (
            pa.array([[(14, 0, 0)], None], pa.list_(CALENDAR)),
            pa.list_(MONTHS),
            [[timedelta(seconds=14)], None],
        ),
        (pa.array([[14], [None]]), pa.list_(MONTHS), [[timedelta(seconds=14)], [None]]),
        (pa.array([1, None], pa.duration("s")), pa.duration("us"), [timedelta(seconds=1), None]),
    ],
)
def test_casts_that_lose_nothing(given, type_, kept):
    column = whole_rows(one(type_), pa.table({"x": given})).column(0)
    assert (column.type, column.to_pylist()) == (type_, kept)


def test_nan_is_a_double_like_any_other():
    doubles = pa.table({"x": pa.array([float("nan"), None])})
    assert str(whole_rows(one(pa.float32()), doubles).column(0).to_pylist()) == "[nan, None]"


BIGINT = "column 'id' (BIGINT NOT NULL): it is beyond -9223372036854775808 to 9223372036854775807"
# rows, then what the message must hold: where, what, what exists or fits
BAD = [
    (
        [{"id": 1}, {"id": 2, "naem": "x"}],
        ["row 1", "unknown column 'naem'", "id, Name, rate", "did you mean 'Name'?"],
    ),
    ([{"id": 1}, {"Name": "x"}], ["row 1", "column 'id' (BIGINT NOT NULL)", "no value"]),
    ([{"id": None}], ["row 0", "column 'id' (BIGINT NOT NULL)"]),
    ([{"id": 1}, {"id": "seven"}], ["row 1", "'seven'", "column 'id' (BIGINT", "give an int"]),
    ([{"id": 1}, {"id": 1.5}], ["row 1", "1.5", "fraction"]),
    ([{"id": True}], ["row 0", "True", "give an int, not bool"]),
    ([{"id": 2**63}], ["table 'account', row 0: 9223372036854775808 doesn't fit", BIGINT]),
    ([{"id": 1}, {"id": -1e20}], ["row 1: -1e+20 doesn't fit", BIGINT]),
    ([{"id": 1, "rate": 10**400}], ["row 0", "column 'rate' (DOUBLE): it is beyond the range of a DOUBLE"]),
    ([{"id": 1, "rate": 2**53 + 1}], ["row 0", "9007199254740993 doesn't fit column 'rate'", "rounded"]),
    ([{"id": 1, "Name": b"x"}], ["row 0", "b'x'", "column 'Name' (STRING)", "give a str"]),
    ([{"id": 1, "amount": Decimal("1.555")}], ["row 0", "column 'amount' (DECIMAL(5,2))", "2 digits after"]),
    ([{"id": 1, "amount": 1234}], ["row 0", "1234", "3 digits before"]),
    ([{"id": 1, "amount": float("nan")}], ["row 0", "nan", "column 'amount'"]),
    ([{"id": 1, "at": "2024-01-01"}], ["row 0", "column 'at' (TIMESTAMP)", "give a datetime.datetime"]),
    ([{"id": 1, "at": 5}], ["row 0", "column 'at' (TIMESTAMP)"]),
    (
        [(1, "a", 0.5, 1, None), (1, "a")],
        ["row 1", "(1, 'a') has 2 values, needs 5", "id, Name, rate, amount, at"],
    ),
    ([(1, "a", 0.5, 1, None), {"id": 1}], ["row 1", "is a dict"]),
    ([5], ["row 0", "5 is an int", "list of dicts or tuples"]),
    ({"id": 1}, ["a list of dicts or tuples", "not a dict"]),
    ("rows", ["a list of dicts or tuples", "not a str"]),
    (None, ["a list of dicts or tuples", "not a NoneType"]),
    (pa.table({"id": [1]}), ["column 'Name' is missing", "columns given: id"]),
    (pa.table({"id": [1], "x": [1]}), ["unknown column 'x'", "columns: id, Name"]),
    (pa.table({"id": [1], "ID": [1]}), ["two columns are named 'id'"]),
    (arrow([ROW, ROW]).set_column(0, "id", pa.array([1, None])), ["row 1", "column 'id' (BIGINT NOT NULL)"]),
    (arrow([ROW] * 3).set_column(0, "id", pa.array([1, 2.0, 2.5])), ["row 2", "2.5", "column 'id'"]),
    (arrow([ROW]).set_column(0, "id", pa.array(["1"])), ["row 0", "'1'", "string is no integer; cast it"]),
    (arrow([ROW] * 2).set_column(3, "amount", pa.array([1.5, 1.005])), ["row 1", "1.005", "rounded"]),
    (arrow([ROW]).set_column(4, "at", pa.array([1])), ["row 0", "column 'at'", "int64 is no timestamp"]),
]


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        (pa.int8(), 300, "beyond -128 to 127"),
        (pa.int16(), pa.array([1 << 15]), "beyond -32768 to 32767"),
        (pa.int32(), pa.array([1e10]), "a fraction, or is beyond -2147483648 to 2147483647"),
        (pa.list_(pa.int64()), [2**63], "a number in it is beyond the range of its type"),
        (pa.float32(), 1e300, "beyond the range of a FLOAT"),
        (pa.decimal128(5, 2), float("inf"), "no NaN and no infinity"),
        (pa.decimal128(5, 2), pa.array([float("nan")]), "no NaN and no infinity"),
    ],
)
def test_numbers_out_of_range(type_, value, said):
    rows = pa.table({"x": value}) if isinstance(value, pa.Array) else [(value,)]
    with pytest.raises(DataError, match=f"row 0: .* doesn't fit column 'x' .*{said}"):
        whole_rows(one(type_), rows)


@pytest.mark.parametrize(("rows", "said"), BAD, ids=[" ".join(said)[:50] for _, said in BAD])
def test_bad_rows(rows, said):
    with pytest.raises(DataError) as caught:
        whole_rows(ACCOUNT, rows)
    for words in ["table 'account'", *said]:
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        (pa.date32(), datetime(2024, 1, 1), "give a datetime.date, not datetime"),
        (MONTHS, timedelta(days=30), "give an int of months or a pyarrow.MonthDayNano, not timedelta"),
        (MONTHS, pa.MonthDayNano([1, 1, 0]), "it has days or a time"),
        (MONTHS, 2**31, "32 bits of months"),
        (pa.timestamp("us"), datetime(2024, 1, 1, tzinfo=UTC), "has a time zone"),
        (pa.list_(pa.int32()), [1, "x"], "give an int"),
        (pa.list_(pa.string()), "xy", "give a list"),
        (pa.struct([("a", pa.int32())]), {"b": 1}, "unknown field 'b'; fields: a"),
        (pa.struct([("a", pa.int32())]), (1, 2), "a struct of 1 fields has 2 values"),
        (pa.float64(), 2**53 + 1, "9007199254740993"),
        (pa.float32(), 2**24 + 1, "16777217"),
        (pa.timestamp("us"), np.datetime64(1, "ns"), "finer than a microsecond"),
    ],
)
def test_values_that_would_change_are_refused(type_, value, said):
    with pytest.raises(DataError, match="row 1"):
        read(type_, None, value)
    with pytest.raises(DataError) as caught:
        read(type_, value)
    assert said in str(caught.value)


def test_a_struct_s_fields_go_by_name():
    pair = one(pa.struct([("a", pa.int32()), ("b", pa.string())]))
    swapped = pa.table({"x": pa.array([{"b": "y", "a": 1}])})
    assert whole_rows(pair, swapped).to_pylist() == [{"x": {"a": 1, "b": "y"}}]
    with pytest.raises(DataError, match="has the fields a, c, not a, b"):
        whole_rows(pair, pa.table({"x": pa.array([{"a": 1, "c": "y"}])}))


@pytest.mark.parametrize(
    "keys", [[{"id": 7}], [(7,)], [(7, "x", None)], [{"id": 7, "name": "x"}], pa.table({"id": [7]})]
)
def test_keys(keys):
    assert key_rows(table("customer", CUSTOMER, ("id",)), keys).to_pylist() == [
        {"id": 7, "name": None, "joined": None}
    ]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([{"name": "x"}], "column 'id' (BIGINT NOT NULL)"),
        ([(7, "x")], "(7, 'x') has 2 values, needs 1 (id)"),
        ([{"id": "x"}], "give an int"),
    ],
)
def test_bad_keys(keys, said):
    with pytest.raises(DataError) as caught:
        key_rows(table("customer", CUSTOMER, ("id",)), keys)
    assert "table 'customer', row 0" in str(caught.value)
    assert said in str(caught.value)


ARRIVING = replace(
    table("arriving", (Field("id", pa.int64(), False), Field("arrived", TIMESTAMP, False))),
    defaults=(Default(1, Column(0, TIMESTAMP, False)),),
)


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": 1}],
        [{"id": 1, "arrived": None}],
        [(1, None)],
        arrow([{"id": 1}]),
        pa.table({"id": [1], "arrived": pa.nulls(1)}),
    ],
    ids=["left out", "NULL", "tuple", "Table", "NULLs"],
)
def test_what_is_inserted_may_leave_out_a_column_with_a_default(rows):
    assert whole_rows(ARRIVING, rows).to_pylist() == [{"id": 1, "arrived": None}]
    with pytest.raises(DataError, match="'arrived'"):
        whole_rows(ARRIVING, rows, retracted=True)
    with pytest.raises(DataError, match="'id'"):
        whole_rows(ARRIVING, [{"arrived": None}])


def test_an_empty_frame_is_no_rows_whatever_its_types_are():
    texts = table("b", (Field("k", pa.string(), False), Field("x", pa.list_(pa.date32()))))
    for empty in (pd.DataFrame({"k": [], "x": []}), pd.DataFrame({"k": [], "x": []}, dtype="int64")):
        rows = whole_rows(texts, empty)
        assert rows.num_rows == 0 and rows.schema.types == [pa.string(), pa.list_(pa.date32())]
    with pytest.raises(DataError, match="column 'x' is missing"):
        whole_rows(texts, pd.DataFrame({"k": []}))
