"""The spelling of what operators and plans are made of: never another, whatever the code calls it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.identity.canonical import Default, canonical_text, name_of
from dbsp.circuits.identity.values import VALUES
from dbsp.circuits.operators.groups.aggregates.bits import Bitwise
from dbsp.circuits.operators.groups.aggregates.collected import Collect, Join, Mode
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.windows.calls import Frame
from dbsp.circuits.progress.percentile import Percentile as OfLast
from tests.circuits.identity.located import locate

INT = pa.int64()
X = Column(0, INT)


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (X, "column(0:0,1:int64)"),
        (Column(3, pa.string(), nullable=False), "column(0:3,1:string,2:false)"),
        (Literal(None, INT), "literal(0:null,1:int64)"),
        (Literal(-0.0, pa.float64()), "literal(0:-0.0,1:float64)"),
        (Literal(Decimal("1.50"), pa.decimal128(3, 2)), "literal(0:1.50,1:decimal(3,2))"),
        (Variable(1, INT), "variable(0:1,1:int64)"),
        (Call("add", (X, X), INT), 'call(0:"add",1:[column(0:0,1:int64),column(0:0,1:int64)],2:int64)'),
        (
            Call("cast", (X,), INT, False, (("evalMode", "ANSI"),)),
            'call(0:"cast",1:[column(0:0,1:int64)],2:int64,3:false,4:[["evalMode","ANSI"]])',
        ),
        (SortKey(1), "key(0:1)"),
        (SortKey(1, descending=True), "key(0:1,1:true)"),
        (SortKey(1, nulls_last=True), "key(0:1,2:true)"),
        (Frame(), "frame()"),
        (Frame(rows=False, lower=-3), "frame(0:false,1:-3)"),
        (Bitwise("bit_or"), 'bitwise(0:"bit_or")'),
        (Collect(), "collect()"),
        (Collect(once=True), "collect(0:true)"),
        (Join(","), 'joined(0:",")'),
        (Mode(greatest=True), "mode(0:true)"),
        (Percentile("exact", (0.5,)), 'percentile(0:"exact",1:[0.5])'),
        (OfLast(Decimal(20), 5), "percentile_of_last(0:20,1:5)"),
    ],
    ids=str,
)
def test_no_later_release_spells_it_otherwise(value: object, spelled: str) -> None:
    assert canonical_text(value, VALUES) == spelled


def test_a_user_s_text_says_nothing() -> None:
    written = Call("add", (X, X), INT, text="a + a")
    assert canonical_text(written, VALUES) == canonical_text(Call("add", (X, X), INT), VALUES)
    assert canonical_text(Variable(0, INT, name="x"), VALUES) == canonical_text(Variable(0, INT), VALUES)


def test_every_word_is_one_class_s() -> None:
    words = [form.word for form in VALUES.values()]
    assert len(set(words)) == len(words)


def test_every_kind_of_expression_is_spelled() -> None:
    assert {*map(name_of, Expression.__args__)} <= VALUES.keys()


@pytest.mark.parametrize("name", VALUES)
def test_values_that_differ_are_spelled_differently(name: str) -> None:
    """Each field that is compared has a place of its own."""
    kind, places = locate(name), VALUES[name].places
    named = [place.field if isinstance(place, Default) else place for place in places if place is not None]
    assert len(set(named)) == len(named)
    assert is_dataclass(kind) and {f.name for f in fields(kind) if f.compare} == {*named}
