"""JSON_TUPLE by Python's own reader, of documents that are ones; Spark's are in the features' tests."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

KIND = pa.list_(pa.struct([("c0", pa.string()), ("c1", pa.string())]))
values = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text('aé"\\', max_size=3))
nested = st.one_of(values, st.lists(values, max_size=2), st.dictionaries(st.sampled_from("ab"), values))
documents = st.dictionaries(st.sampled_from("abc"), nested)


def text_of(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@given(st.lists(documents, min_size=1), st.sampled_from("abc"))
def test_the_values_of_names(listed: list[dict[str, Any]], name: str) -> None:
    array = pa.array([json.dumps(each) for each in listed])
    names = pa.array([name] * len(listed))
    expected = [[{"c0": text_of(each.get("a")), "c1": text_of(each.get(name))}] for each in listed]
    assert called("json_tuple", KIND, array, pa.scalar("a"), names) == expected


def test_what_is_none() -> None:
    texts = [None, "", "[1]", '{"a": 1', '{"a": 1, "a": 2, "a": null}', '{"a": "x"} y']
    found = called("json_tuple", KIND, pa.array(texts), pa.scalar("a"), pa.scalar(None, pa.string()))
    assert [each[0]["c0"] for each in found] == [None, None, None, None, "2", "x"]
    assert [each[0]["c1"] for each in found] == [None] * 6
