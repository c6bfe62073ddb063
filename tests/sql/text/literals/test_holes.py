"""Holes in place of literals, in a whole text and in pieces of it."""

from __future__ import annotations

from dbsp.sql.text.literals.holes import HOLE, filled, with_holes
from dbsp.sql.text.literals.written import written
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens

TEXT = "SELECT 12 + k, 'abc' FROM v WHERE k = 12"
LITERALS = list(zip(written(tokens(as_it_is(TEXT, "q")), "UTC"), (0, 1, 0), strict=True))


def test_a_text_is_its_shape_filled_in() -> None:
    shape = with_holes(TEXT, 0, LITERALS, lambda one: f" {one.type}")
    assert shape.replace(HOLE, "|") == "SELECT |0 int32| + k, |1 string| FROM v WHERE k = |0 int32|"
    assert filled(shape, lambda number: ["12", "'abc'"][number]) == TEXT


def test_a_piece_has_the_holes_that_are_whole_in_it() -> None:
    assert with_holes(TEXT[7:13], 7, LITERALS, lambda _: "").replace(HOLE, "|") == "|0| + k"
    assert with_holes(TEXT[8:17], 8, LITERALS, lambda _: "") == TEXT[8:17]
