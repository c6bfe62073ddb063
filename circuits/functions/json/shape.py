"""JSON_ARRAY_LENGTH and JSON_OBJECT_KEYS: the outermost array or object of a document."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict
from dbsp.circuits.functions.json.reader import Malformed, Reader


def _outermost(text: str, opening: str) -> list[str] | None:
    """The names in the outermost object, or one empty text per element of the outermost array."""
    reader = Reader(text, control_characters=True, non_numbers=False)
    closing = {"{": "}", "[": "]"}[opening]
    try:
        if reader.next() != opening:
            return None
        found = []
        while reader.next() != closing:
            found.append(reader.name if opening == "{" else "")
            if reader.token == "name":
                reader.next()
            reader.skip()
    except Malformed:
        return None
    return found


@strict("static_invoke.JsonExpressionUtils.lengthOfJsonArray")
def json_array_length(call: Call, text: pa.Array) -> Value:
    """NULL of what is no JSON array."""

    def run(document: str) -> int | None:
        elements = _outermost(document, "[")
        return None if elements is None else len(elements)

    return per_distinct(run, call.type, text)


@strict("static_invoke.JsonExpressionUtils.jsonObjectKeys")
def json_object_keys(call: Call, text: pa.Array) -> Value:
    """The names in their order, repeated ones too; NULL of what is no JSON object."""

    def run(document: str) -> list[str] | None:
        names = _outermost(document, "{")
        return names and [name.encode("utf-16-le", "replace").decode("utf-16-le") for name in names]

    return per_distinct(run, call.type, text)
