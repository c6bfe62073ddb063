"""Answers in the types that a client is told."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from dbsp.serving.postgres.answers import fields_of
from dbsp.serving.postgres.catalogue.showing import shown


def test_arrays_are_spelled_and_have_the_number_of_their_values() -> None:
    given = pa.table(
        {
            "texts": pa.array([["a", "b c", 'q"', None, "null", ""], None]),
            "small": pa.array([[1, 2], []], pa.list_(pa.int16())),
            "is_so": pa.array([[True, False], [None]]),
        }
    )
    found = shown(given)
    assert found.column("texts").to_pylist() == ['{a,"b c","q\\"",NULL,"null",""}', None]
    assert found.column("small").to_pylist() == ["{1,2}", "{}"]
    assert found.column("is_so").to_pylist() == ["{t,f}", "{NULL}"]
    assert [field.oid for field in fields_of(found.schema)] == [1009, 1005, 1000]
    assert [field.oid for field in fields_of(found.schema, arrays=False)] == [25, 25, 25]


def test_functions_have_names_and_moments_a_zone() -> None:
    moment = dt.datetime(2024, 1, 2, tzinfo=dt.UTC)
    given = pa.table(
        {
            "typreceive": pa.array([2408, 0, 5, None], pa.int64()),
            "at": pa.array([moment] * 4, pa.timestamp("us", "Etc/UTC")),
            "time": pa.array([dt.time(3, 4)] * 4, pa.time64("us")),
        }
    )
    found = shown(given)
    assert found.column("typreceive").to_pylist() == ["int8recv", "-", "5", None]
    assert [field.oid for field in fields_of(found.schema)] == [25, 1184, 1083]
