"""JSON_TUPLE: the values of some names in a document's outermost object, as text.

    json_tuple(document, name, …) = [(text of the value of each name)]

A list of one struct, so that what goes through the elements of lists makes rows of it. A string comes without
its quotes, anything else as JSON; NULL where the object doesn't have the name. Of a name that stands twice
the last value that isn't null counts. All are NULL where the document is none, or no object.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import per_distinct
from dbsp.circuits.expressions.vectors.spread import spread
from dbsp.circuits.functions.json.reader import Malformed, Reader
from dbsp.circuits.functions.json.writer import Writer


@kernel("json_tuple")
def json_tuple(call: Call, document: Value, *names: Value) -> Value:
    """Once per distinct document and names."""
    fields = [field.name for field in call.type.value_type]
    length = next((len(each) for each in (document, *names) if not isinstance(each, pa.Scalar)), 1)
    # a name that is NULL finds nothing; a document that is NULL is none
    known = [spread(each, length).fill_null("") for each in (document, *names)]
    asked = [spread(each, length).is_valid() for each in names]

    def run(text: str, *wanted: str | bool) -> list[dict[str, str | None]]:
        each = zip(wanted[::2], wanted[1::2], strict=True)
        found = _found(text, {str(name) for name, is_known in each if is_known})
        values = (
            found.get(str(name)) if is_known else None
            for name, is_known in zip(wanted[::2], wanted[1::2], strict=True)
        )
        return [dict(zip(fields, values, strict=True))]

    paired = [each for pair in zip(known[1:], asked, strict=True) for each in pair]
    return per_distinct(run, call.type, known[0], *paired)


def _found(text: str, names: set[str]) -> dict[str, str]:
    reader = Reader(text, control_characters=True, non_numbers=False)
    found: dict[str, str] = {}
    try:
        if reader.next() != "{":
            return {}
        while reader.next() != "}":
            name = reader.name
            if reader.token == "name":
                reader.next()
            if name in names and reader.token != "null":
                found[name] = _text(reader)
            else:
                reader.skip()
        for value in found.values():
            value.encode()  # half a pair of surrogates is no text
    except (Malformed, UnicodeEncodeError):
        return {}
    return found


def _text(reader: Reader) -> str:
    if reader.token == "string":
        return reader.text
    writer = Writer(escape_pairs=True)
    writer.copy(reader)
    return str(writer)
