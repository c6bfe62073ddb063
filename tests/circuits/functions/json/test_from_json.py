"""FROM_JSON: Python's values of what converts, and NULL for what doesn't, field by field."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.library import find
from tests.circuits.functions.calling import call, called
from tests.circuits.functions.json.test_reader import CHARACTERS

INT, TEXT, DOUBLE = pa.int64(), pa.string(), pa.float64()
RECORD = pa.struct(
    [("a", INT), ("b", TEXT), ("c", pa.list_(pa.struct([("x", DOUBLE), ("y", pa.map_(TEXT, INT))])))]
)
optional = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))
inner = st.fixed_dictionaries(
    {
        "x": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
        "y": st.one_of(st.none(), st.dictionaries(st.sampled_from("pq"), optional, max_size=2)),
    }
)
records = st.fixed_dictionaries(
    {
        "a": optional,
        "b": st.one_of(st.none(), st.text(st.sampled_from(CHARACTERS), max_size=3)),
        "c": st.one_of(st.none(), st.lists(inner, max_size=2)),
    }
)


def from_json(data_type: pa.DataType, *texts: str | None, **options: str) -> list[Any]:
    spelled = tuple(sorted(options.items()))
    return called("json_to_structs", data_type, pa.array(texts, TEXT), timeZoneId="UTC", options=spelled)


def listed(record: dict[str, Any]) -> dict[str, Any]:
    """The maps as Arrow has them."""
    elements = record["c"]
    if elements is not None:
        elements = [
            {**one, "y": one["y"] and list(one["y"].items())} if one["y"] != {} else {**one, "y": []}
            for one in elements
        ]
    return {**record, "c": elements}


@given(st.lists(st.one_of(st.none(), records), max_size=3))
def test_records_are_read_again(given_: list[Any]) -> None:
    texts = [None if record is None else json.dumps(record) for record in given_]
    assert from_json(RECORD, *texts) == [None if record is None else listed(record) for record in given_]


SMALL = pa.struct([("a", pa.int32()), ("b", TEXT)])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("{}", {"a": None, "b": None}),
        ('{"a": 1, "c": 2}', {"a": 1, "b": None}),
        ('{"a": "1", "b": "x"}', {"a": None, "b": "x"}),
        ('{"a": 2147483648, "b": "x"}', {"a": None, "b": "x"}),
        ('{"b": {"k": [1, "two"]}}', {"a": None, "b": '{"k":[1,"two"]}'}),
        ('{"b": 1.50}', {"a": None, "b": "1.5"}),
        ("[1]", {"a": None, "b": None}),
        ('{"a": 1, "b": ', {"a": None, "b": None}),
        ("nonsense", {"a": None, "b": None}),
    ],
)  # fmt: skip
def test_permissive(text: str, found: Any) -> None:
    """As Spark 4 documents PERMISSIVE: what isn't of its type is NULL, and the rest stays."""
    assert from_json(SMALL, text) == [found]


def test_failfast() -> None:
    with pytest.raises(EvaluationError, match="MALFORMED_RECORD_IN_PARSING") as raised:
        from_json(SMALL, '{"a": 1}', '{"a": "x"}', mode="FAILFAST")
    assert raised.value.row == 1
    assert from_json(SMALL, '{"a": 1}', None, mode="FAILFAST") == [{"a": 1, "b": None}, None]


def test_a_record_alone_is_an_array_of_one() -> None:
    data_type = pa.list_(SMALL)
    assert from_json(data_type, '{"a": 1}') == [[{"a": 1, "b": None}]]
    assert from_json(data_type, '[{"a": 1}, {"b": "x"}]') == [[{"a": 1, "b": None}, {"a": None, "b": "x"}]]


@pytest.mark.parametrize(
    ("data_type", "options", "said"),
    [
        (SMALL, {"mode": "DROPMALFORMED"}, "the option mode => DROPMALFORMED"),
        (SMALL, {"dateFormat": "y"}, "the option dateFormat => y"),
        (pa.struct([("_corrupt_record", TEXT)]), {}, "a column _corrupt_record"),
        (pa.struct([("a", INT), ("a", TEXT)]), {}, "two fields of one name"),
        (pa.map_(INT, TEXT), {}, "keys of type BIGINT"),
        (pa.struct([("t", pa.timestamp("us"))]), {}, "values of type TIMESTAMP_NTZ"),
        (SMALL, {"mode": "failfast"}, None),
    ],
)
def test_what_is_refused(data_type: pa.DataType, options: dict[str, str], said: str | None) -> None:
    function = find("json_to_structs")
    assert function is not None
    made = call("json_to_structs", data_type, pa.array([""]), options=tuple(options.items()))
    assert function.refuse(made) == said
