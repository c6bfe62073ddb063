"""GET_JSON_OBJECT, against a walk through what Python reads."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

TEXT = pa.string()
leaves = st.one_of(st.booleans(), st.integers(-5, 5), st.sampled_from(["", "x", 'q"']))
documents = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
steps = st.lists(st.one_of(st.sampled_from("abc"), st.integers(0, 2)), max_size=3)


def get(path: str | None, *texts: str | None) -> list[Any]:
    return called("get_json_object", TEXT, pa.array(texts, TEXT), pa.scalar(path, TEXT))


def walked(document: Any, path: list[Any]) -> Any:
    for step in path:
        if isinstance(step, int):
            if not isinstance(document, list) or step >= len(document):
                return None
            document = document[step]
        else:
            if not isinstance(document, dict):
                return None
            document = document.get(step)
    return document


def as_text(found: Any) -> str | None:
    if found is None or isinstance(found, str):
        return found
    return json.dumps(found, separators=(",", ":"))


@given(documents, steps, st.booleans())
def test_fields_and_elements(document: Any, path: list[Any], in_brackets: bool) -> None:
    named = "['{}']" if in_brackets else ".{}"
    spelled = "$" + "".join(f"[{step}]" if isinstance(step, int) else named.format(step) for step in path)
    assert get(spelled, json.dumps(document)) == [as_text(walked(document, path))], spelled


DOCUMENT = '{"a": [{"b": 1}, {"b": "x"}, {"c": 2}], "n": [[1, 2], [3]], "one": [{"b": 7}]}'


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.a[*].b", '[1,"x"]'),
        ("$.one[*].b", "7"),
        ("$.n[*][*]", "[1,2,3]"),
        ("$.a[*].none", None),
        ("$.*", None),
        ("a", None),
        ("$.a[", None),
        ("", None),
    ],
)
def test_all_elements(path: str, found: str | None) -> None:
    assert get(path, DOCUMENT) == [found]


def test_of_several_fields_the_first_that_is_not_null() -> None:
    assert get("$.a", '{"a": null, "a": 1, "a": 2}') == ["1"]


def test_what_is_no_json_has_nothing() -> None:
    assert get("$.a", "{", "nonsense", "", None, '{"a": 1}') == [None, None, None, None, "1"]
    assert get(None, "{}") == [None]
