"""A function whose code isn't in the program's text, and the record of it that a state directory keeps."""

from __future__ import annotations

import json

from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.plans.declared import Declared

MEDIAN = Declared(("BIGINT", "STRING"), "DOUBLE", PythonFunction("median", "arrow", True, "1f", b"pickled"))


def test_a_record_has_everything_but_the_code() -> None:
    record = Declared.from_json(json.loads(json.dumps(MEDIAN.to_json())))
    assert record == MEDIAN  # by its identity, of which the code is no part
    assert record.python.code == b""
    assert (record.is_record, MEDIAN.is_record) == (True, False)
    assert (record.name, record.types, record.result) == ("median", ("BIGINT", "STRING"), "DOUBLE")
    assert (record.python.style, record.python.aggregate) == ("arrow", True)


def test_records_are_spelled_as_in_state_directories() -> None:
    assert MEDIAN.to_json() == {
        "name": "median",
        "style": "arrow",
        "aggregate": True,
        "identity": "1f",
        "types": ["BIGINT", "STRING"],
        "result": "DOUBLE",
    }


def test_another_identity_is_another_function() -> None:
    other = Declared(MEDIAN.types, MEDIAN.result, PythonFunction("median", "arrow", True, "2e", b"pickled"))
    assert other != MEDIAN
