"""The outermost array or object: what Python's reader finds there, names in their order."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from tests.circuits.functions.calling import called
from tests.circuits.functions.json.test_reader import documents

NAMES = pa.list_(pa.string())


def length(*texts: str | None) -> list[Any]:
    function = "static_invoke.JsonExpressionUtils.lengthOfJsonArray"
    return called(function, pa.int32(), pa.array(texts, pa.string()))


def keys(*texts: str | None) -> list[Any]:
    return called("static_invoke.JsonExpressionUtils.jsonObjectKeys", NAMES, pa.array(texts, pa.string()))


@given(documents)
def test_any_document(document: Any) -> None:
    text = json.dumps(document)
    assert length(text) == [len(document) if isinstance(document, list) else None]
    assert keys(text) == [list(document) if isinstance(document, dict) else None]


@pytest.mark.parametrize("text", ["", "[1,", '{"a": 1', "[1 2]", "nonsense", None, "1"])
def test_what_is_no_document(text: str | None) -> None:
    assert length(text) == keys(text) == [None]


def test_only_the_outermost_counts() -> None:
    assert length("[[1, 2], {}, 3]", "[]", "[null]") == [3, 0, 1]
    assert keys('{"a": {"b": 1}, "c": [{"d": 1}]}', "{}") == [["a", "c"], []]
    assert keys('{"a": 1, "a": 2}') == [["a", "a"]], "repeated names are repeated"
