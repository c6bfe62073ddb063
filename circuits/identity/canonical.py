"""Compiled values as text that no later release spells otherwise: what they mean is known by its digest.

A class has a word and each of its fields a place (`Form`). Neither is its name in the code, so what is
renamed keeps its spelling. A field is left out where it has the value that it is said to have had before it
was added, so a new one changes no program that does not use it.

A class is found by the name of its module and its own, so that the forms of all of them import none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.forms.time_of_day import TIME


@dataclass(frozen=True)
class Default:
    """A field that is left out where it has this value."""

    field: str
    value: object


@dataclass(frozen=True)
class Form:
    """How values of a class are spelled: `word(place:value,…)`.

    places: the fields, each at the place it keeps for ever; None: of a field that is no more. silent: fields
    that say nothing of what a program computes, such as where it was written.
    """

    word: str
    places: tuple[str | Default | None, ...]
    silent: tuple[str, ...] = ()


# by `name_of` their classes
Forms = Mapping[str, Form]


def name_of(class_: type) -> str:
    """Where a class is found."""
    return f"{class_.__module__}.{class_.__qualname__}"


def within(package: str, forms: Forms) -> Forms:
    """Those of classes that are named from there on."""
    return {f"{package}.{name}": form for name, form in forms.items()}


def canonical_text(value: object, forms: Forms) -> str:
    """Equal in every process, and for values that mean the same in every release."""
    form = forms.get(name_of(type(value)))
    if form is not None:
        inner = (
            f"{place}:{canonical_text(getattr(value, _name(field)), forms)}"
            for place, field in enumerate(form.places)
            if field is not None and not _is_left_out(value, field)
        )
        return f"{form.word}({','.join(inner)})"
    if isinstance(value, Mapping):
        pairs = (f"{canonical_text(k, forms)}:{canonical_text(v, forms)}" for k, v in value.items())
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, (tuple, list)):
        return f"[{','.join(canonical_text(item, forms) for item in value)}]"
    if isinstance(value, pa.DataType):
        return _type(value)
    return _constant(value)


def check_form(class_: type, form: Form) -> None:
    """Every field that is compared is spelled or silent, and one that has a default may be left out."""
    compared = {f.name: f for f in fields(class_) if f.compare}
    spelled = {_name(field): field for field in form.places if field is not None}
    assert not (strange := (spelled.keys() | {*form.silent}) - compared.keys()), f"{class_}: no {strange}"
    unspelled = compared.keys() - spelled.keys() - {*form.silent}
    assert not unspelled, (
        f"{class_}: say the place of {unspelled}, with a value for older programs, or why not"
    )
    optional = {name for name, f in compared.items() if f.default is not MISSING} - {*form.silent}
    written = {name for name in optional if not isinstance(spelled.get(name), Default)}
    assert not written, f"{class_}: {written} may be left out; say where"


def _name(field: str | Default) -> str:
    return field.field if isinstance(field, Default) else field


def _is_left_out(value: object, field: str | Default) -> bool:
    if not isinstance(field, Default):
        return False
    given = getattr(value, field.field)
    return type(given) is type(field.value) and bool(given == field.value)


def _constant(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float() | Decimal():
            return str(value)
        case str():
            return json.dumps(value)
        case bytes():
            return f"x'{value.hex()}'"
        case timedelta():
            return f"{value // timedelta(microseconds=1)}us"
        case date() | time():
            return value.isoformat()
    raise AssertionError(f"{type(value).__name__} has no spelling of its own: {value!r}")


_ATOMS = {
    pa.null(): "null",
    pa.bool_(): "bool",
    pa.int8(): "int8",
    pa.int16(): "int16",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.float32(): "float32",
    pa.float64(): "float64",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    MONTHS: "months",
    TIME: "time",
    # as the names of its parts were
    CALENDAR_INTERVAL: 'struct("months":int32,"days":int32,"microseconds":int64)',
}


def _type(data_type: pa.DataType) -> str:
    if data_type in _ATOMS:
        return _ATOMS[data_type]
    if pt.is_decimal128(data_type):
        return f"decimal({data_type.precision},{data_type.scale})"
    if pt.is_timestamp(data_type):
        return f"timestamp({data_type.unit},{json.dumps(data_type.tz)})"
    if pt.is_duration(data_type):
        return f"duration({data_type.unit})"
    if pt.is_list(data_type):
        return f"list({_element(data_type.value_field)})"
    if pt.is_map(data_type):
        return f"map({_type(data_type.key_type)},{_element(data_type.item_field)})"
    if pt.is_struct(data_type):
        inner = (f"{json.dumps(field.name)}:{_element(field)}" for field in data_type)
        return f"struct({','.join(inner)})"
    raise AssertionError(f"type {data_type} has no spelling of its own")


def _element(field: pa.Field) -> str:
    return _type(field.type) if field.nullable else f"{_type(field.type)}!"
