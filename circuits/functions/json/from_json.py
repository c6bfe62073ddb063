"""FROM_JSON: documents as values of a type, as Spark's JacksonParser converts them in PERMISSIVE mode.

A field that doesn't convert is NULL and the record keeps its others; an array with a bad element is no value
at all, unless the element is itself a record, array or map of which a part converts. The text is read once,
and what is read behind an error is what Jackson reads there.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import type_name
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict
from dbsp.circuits.expressions.vectors.utf8 import whole_characters
from dbsp.circuits.functions.json.reader import Malformed, Reader
from dbsp.circuits.functions.json.scalars import INTEGERS, Convert, Times, Unconverted, scalar
from dbsp.circuits.functions.times.date_patterns import refuse_parse


class _Partial(ValueError):
    """A record, array or map of which a part isn't of its type; `value` is the rest."""

    def __init__(self, value: Any) -> None:
        super().__init__("a part of a value")
        self.value = value


_FORMATS = ("dateformat", "timestampformat")
_BAD = (Malformed, Unconverted)


def _refuse(call: Call) -> str | None:
    options = dict(call.option("options", ()))  # type: ignore[call-overload]
    for name, value in options.items():
        if name.lower() in _FORMATS:
            wrong = refuse_parse(value)
            if wrong is not None:
                return wrong
        elif name.lower() != "mode" or value.upper() not in ("PERMISSIVE", "FAILFAST"):
            return f"the option {name} => {value}"
    names = [field.name for field in call.type] if pt.is_struct(call.type) else []
    if "_corrupt_record" in names:
        return "a column _corrupt_record"
    return _uncovered(call.type)


def _uncovered(type_: pa.DataType) -> str | None:
    """What type in it isn't read."""
    if pt.is_struct(type_):
        if len({field.name for field in type_}) < type_.num_fields:
            return "two fields of one name"
        return next((found for field in type_ if (found := _uncovered(field.type))), None)
    if pt.is_map(type_):
        if not pt.is_string(type_.key_type):
            return f"keys of type {type_name(type_.key_type)}"
        return _uncovered(type_.item_type)
    if pt.is_list(type_):
        return _uncovered(type_.value_type)
    known = pt.is_boolean(type_) or pt.is_string(type_) or pt.is_decimal(type_) or type_ in INTEGERS
    known = (
        known or pt.is_date(type_) or pt.is_binary(type_) or (pt.is_timestamp(type_) and type_.tz is not None)
    )
    return None if known or pt.is_floating(type_) else f"values of type {type_name(type_)}"


@strict("json_to_structs", refuse=_refuse)
def from_json(call: Call, text: pa.Array) -> Value:
    """NULL of an empty text. mode FAILFAST raises where PERMISSIVE leaves out. Once per distinct text."""
    options = {name.lower(): value for name, value in call.option("options", ())}  # type: ignore[attr-defined]
    patterns = (options.get(name) for name in _FORMATS)
    convert = _root(call.type, Times(str(call.option("timeZoneId", "UTC")), *patterns))
    fails = options.get("mode", "").upper() == "FAILFAST"
    missing: dict[str, object] | None = {} if pt.is_struct(call.type) else None  # a record of NULLs

    def run(document: str) -> Any:
        reader = Reader(document, control_characters=False, non_numbers=True)
        try:
            if reader.next() is None:
                return None
            value = convert(reader)
            if value is not None:
                return value
            value = missing
        except _Partial as part:
            value = part.value
        except _BAD:
            value = missing
        if fails:
            raise EvaluationError(
                "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
                f"{document} is no {type_name(call.type)}. With mode PERMISSIVE what isn't one is NULL.",
            )
        return value

    return per_distinct(run, call.type, text)


def _root(type_: pa.DataType, times: Times) -> Convert:
    if pt.is_list(type_) and pt.is_struct(type_.value_type):
        whole, one = _converter(type_, times), _record(type_.value_type, times)

        def array_or_one(reader: Reader) -> Any:
            """A record alone is an array of one."""
            if reader.token != "{":
                return whole(reader)
            try:
                return [one(reader)]
            except _Partial as part:
                raise _Partial([part.value]) from part

        return array_or_one
    return _converter(type_, times)


def _expecting(opening: str, convert: Convert) -> Convert:
    """NULL of null, and of nothing."""

    def run(reader: Reader) -> Any:
        token = _value_token(reader)
        if token in (None, "null"):
            return None
        if token != opening:
            raise Unconverted
        return convert(reader)

    return run


def _value_token(reader: Reader) -> str | None:
    while reader.token == "name":
        reader.next()
    return reader.token


def _converter(type_: pa.DataType, times: Times) -> Convert:
    if pt.is_struct(type_):
        return _expecting("{", _record(type_, times))
    if pt.is_map(type_):
        return _expecting("{", _map(_converter(type_.item_type, times)))
    if pt.is_list(type_):
        return _expecting("[", _array(_converter(type_.value_type, times)))
    convert = scalar(type_, times)

    def run(reader: Reader) -> Any:
        token = _value_token(reader)
        return None if token in (None, "null") else convert(reader)

    return run


def _record(type_: pa.DataType, times: Times) -> Convert:
    fields = {field.name: _converter(field.type, times) for field in type_}

    def run(reader: Reader) -> dict[str, Any]:
        record: dict[str, Any] = {}
        whole = True
        while reader.next() not in (None, "}"):
            name = whole_characters(reader.name)
            if name not in fields:
                reader.skip()
                continue
            try:
                record[name] = fields[name](reader)
            except _Partial as part:
                record[name], whole = part.value, False
            except _BAD:
                whole = False
                reader.skip()
        if not whole:
            raise _Partial(record)
        return record

    return run


def _map(convert: Convert) -> Convert:
    def run(reader: Reader) -> list[tuple[str, Any]]:
        entries: list[tuple[str, Any]] = []
        whole, bad = True, False
        while reader.next() not in (None, "}"):
            name = whole_characters(reader.name)
            try:
                entries.append((name, convert(reader)))
            except _Partial as part:
                entries.append((name, part.value))
                whole = False
            except _BAD:
                bad = True
                reader.skip()
        if bad:
            raise Unconverted
        if not whole:
            raise _Partial(entries)
        return entries

    return run


def _array(convert: Convert) -> Convert:
    def run(reader: Reader) -> list[Any]:
        elements, whole = [], True
        while reader.next() not in (None, "]"):
            try:
                elements.append(convert(reader))
            except _Partial as part:
                elements.append(part.value)
                whole = False
        if not whole:
            raise _Partial(elements)
        return elements

    return run
