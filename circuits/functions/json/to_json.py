"""TO_JSON: records, arrays and maps as JSON text, as Spark's JacksonGenerator writes them.

Column by column: a field's texts are made of all its values at once, then joined row by row.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, type_name
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.numbers.printing import java_text
from dbsp.circuits.functions.times.date_format import format_instants
from dbsp.circuits.functions.times.time_zones import DAY

_CONTROL = [chr(code) for code in range(32)]
_SPECIAL = r'["\\\x00-\x1f]'
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_DATE = "yyyy-MM-dd"
_LOCAL = "yyyy-MM-dd'T'HH:mm:ss.SSS"
# Of an instant, brackets say what is left out where there is no zone.
_USUAL = {"timestampNTZFormat": _LOCAL, "timestampFormat": f"{_LOCAL}XXX", "ignoreNullFields": "true"}


def json_texts(values: pa.Array, timezone: str, options: Mapping[str, str]) -> pa.Array:
    """The same of any values. options: of Spark's `to_json`, of which those are known that are here."""
    given = (("options", tuple(options.items())), ("timeZoneId", timezone))
    return _texts(Call("to_json", (), pa.string(), options=given), values)


def is_written(type_: pa.DataType) -> bool:
    """Whether values of a type are."""
    return _uncovered(type_) is None


def _refuse(call: Call) -> str | None:
    for name, value in call.option("options", ()):  # type: ignore[attr-defined]
        if name.lower() != "ignorenullfields" or value.lower() not in ("true", "false"):
            return f"the option {name} => {value}"
    return _uncovered(call.arguments[0].type)


def _uncovered(type_: pa.DataType) -> str | None:
    """What type in it isn't written."""
    if pt.is_struct(type_):
        return next((found for field in type_ if (found := _uncovered(field.type))), None)
    if pt.is_map(type_):
        if not pt.is_string(type_.key_type) and not pt.is_integer(type_.key_type):
            return f"keys of type {type_name(type_.key_type)}"
        return _uncovered(type_.item_type)
    if pt.is_list(type_):
        return _uncovered(type_.value_type)
    number = pt.is_integer(type_) or pt.is_floating(type_) or pt.is_decimal(type_)
    time = pt.is_date(type_) or pt.is_timestamp(type_)
    known = number or time or pt.is_boolean(type_) or pt.is_null(type_) or pt.is_string(type_)
    known = known or pt.is_binary(type_)
    return None if known else f"values of type {type_name(type_)}"


@columnar("static_invoke.StructsToJsonEvaluator.evaluate", refuse=_refuse)
def to_json(call: Call, values: pa.Array) -> Value:
    """option ignoreNullFields (true): a record's fields that are NULL are left out."""
    return _texts(call, values)


def _texts(call: Call, values: pa.Array) -> pa.Array:
    """The JSON of each value, NULL of NULL."""
    type_ = values.type
    if pt.is_struct(type_):
        return _only(values, _records(call, values))
    if pt.is_map(type_):
        keys, items = child_arrays(child_arrays(values)[0])
        entries = _joined(_strings(keys.cast(pa.string())), ":", _present(_texts(call, items)))
        return _only(values, _joined("{", _lists(values, entries), "}"))
    if pt.is_list(type_):
        elements = _present(_texts(call, child_arrays(values)[0]))
        return _only(values, _joined("[", _lists(values, elements), "]"))
    if pt.is_string(type_):
        return _strings(values)
    if pt.is_binary(type_):
        return _joined('"', _base64(values), '"')
    if pt.is_floating(type_):
        texts = java_text(values)
        return pc.if_else(pc.is_finite(values), texts, _joined('"', texts, '"'))
    if pt.is_date(type_):
        instants = pc.multiply(values.cast(pa.int32()).cast(pa.int64()), DAY)
        return _joined('"', format_instants(replace(call, options=()), instants, _DATE), '"')
    if pt.is_timestamp(type_):
        local = type_.tz is None
        pattern = _option(call, "timestampNTZFormat" if local else "timestampFormat")
        clock = replace(call, options=()) if local else call
        return _joined('"', format_instants(clock, values.view(pa.int64()), pattern), '"')
    return pc.cast(values, pa.string())


def _option(call: Call, name: str) -> str:
    given = {of.lower(): value for of, value in call.option("options", ())}  # type: ignore[attr-defined]
    return str(given.get(name.lower(), _USUAL[name])).replace("[", "").replace("]", "")


def _base64(values: pa.Array) -> pa.Array:
    """Each distinct value is spelled once."""
    encoded = values.dictionary_encode()
    texts = [base64.b64encode(value).decode() for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _joined(*pieces: Value | str) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, "")


def _only(values: pa.Array, texts: pa.Array) -> pa.Array:
    """NULL where the value is."""
    return texts if not values.null_count else pc.if_else(pc.is_valid(values), texts, None)


def _present(texts: pa.Array) -> pa.Array:
    return pc.fill_null(texts, "null")


def _lists(values: pa.Array, elements: pa.Array) -> pa.Array:
    """The texts of each list's elements, with commas."""
    offsets = pa.array(np.asarray(values.offsets), pa.int32())
    return pc.binary_join(pa.ListArray.from_arrays(offsets, elements), ",")


def _records(call: Call, values: pa.Array) -> pa.Array:
    leave_out = _option(call, "ignoreNullFields").lower() == "true"
    fields = []
    for field, column in zip(values.type, child_arrays(values), strict=True):
        texts = _texts(call, column)
        named = _joined(f",{_quoted(field.name)}:", texts if leave_out else _present(texts))
        fields.append(pc.fill_null(named, ""))
    if not fields:
        return pa.array(["{}"] * len(values), pa.string())
    return _joined("{", pc.utf8_slice_codeunits(_joined(*fields), 1), "}")


def _strings(values: pa.Array) -> pa.Array:
    """In quotes, with what JSON doesn't take as it is behind backslashes."""
    if pc.any(pc.match_substring_regex(values, _SPECIAL)).as_py():
        for character in ["\\", '"', *_CONTROL]:  # the backslash first: it stands in all others
            if pc.any(pc.match_substring(values, character)).as_py():
                values = pc.replace_substring(values, character, _quoted(character)[1:-1])
    return _joined('"', values, '"')


def _quoted(text: str) -> str:
    """As Jackson writes it, \\u00XX in capitals."""
    written = re.sub(_SPECIAL, lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}", text)
    return f'"{written}"'
