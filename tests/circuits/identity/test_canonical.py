"""A spelling outlives the names in the code, and what is added to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.identity.canonical import Default, Form, canonical_text, check_form, name_of


@dataclass(frozen=True)
class Before:
    relation: str
    inner: object
    place: str = field(default="", compare=False)


@dataclass(frozen=True)
class After:
    """The same, renamed, with a field more and one that is gone."""

    table: str
    sampled: float = 1.0


OLD = {name_of(Before): Form("scan", ("relation", "inner"))}
NEW = {name_of(After): Form("scan", ("table", None, Default("sampled", 1.0)))}


def test_names_in_the_code_say_nothing() -> None:
    assert canonical_text(Before("votes", 1, "3:4"), OLD) == 'scan(0:"votes",1:1)'
    assert canonical_text(After("votes"), NEW) == 'scan(0:"votes")'
    assert canonical_text(After("votes", 0.5), NEW) == 'scan(0:"votes",2:0.5)'


def test_a_default_is_left_out_only_where_it_is_that_value() -> None:
    forms = {name_of(After): Form("scan", ("table", Default("sampled", True)))}
    assert canonical_text(After("votes", True), forms) == 'scan(0:"votes")'
    assert canonical_text(After("votes", 1.0), forms) == 'scan(0:"votes",1:1.0)'


@pytest.mark.parametrize(
    ("class_", "form", "said"),
    [
        (Before, Form("scan", ("relation",)), "inner"),
        (Before, Form("scan", ("relation", "inner", "outer")), "outer"),
        (After, Form("scan", ("table",)), "sampled"),
        (After, Form("scan", ("table", "sampled")), "may be left out"),
    ],
)
def test_no_field_is_forgotten(class_: type, form: Form, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_form(class_, form)


def test_what_has_no_spelling_is_refused() -> None:
    with pytest.raises(AssertionError, match="Before has no spelling"):
        canonical_text(Before("votes", 1), {})
    with pytest.raises(AssertionError, match=r"float16|halffloat"):
        canonical_text(pa.float16(), {})


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (("a\n\u00e4", None, True, -0.0, float("nan")), '["a\\n\\u00e4",null,true,-0.0,nan]'),
        ((Decimal("1.50"), b"\x00\xff", timedelta(days=-1)), "[1.50,x'00ff',-86400000000us]"),
        (
            (date(2024, 2, 29), datetime(2024, 2, 29, 10, tzinfo=UTC)),
            "[2024-02-29,2024-02-29T10:00:00+00:00]",
        ),
        ({"a": [1]}, '{"a":[1]}'),
        (pa.timestamp("us", tz="UTC"), 'timestamp(us,"UTC")'),
        (pa.timestamp("us"), "timestamp(us,null)"),
        (pa.map_(pa.string(), pa.decimal128(5, 2)), "map(string,decimal(5,2))"),
        (pa.struct([("a", pa.list_(pa.int8())), ("b", MONTHS)]), 'struct("a":list(int8),"b":months)'),
        (pa.list_(pa.field("item", pa.duration("us"), nullable=False)), "list(duration(us)!)"),
    ],
)
def test_constants_and_types_are_spelled_here(value: object, spelled: str) -> None:
    assert canonical_text(value, {}) == spelled
