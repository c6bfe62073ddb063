"""Mirrored expressions, and what is known of columns as they are and mirrored."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.mirror import both, column_at, column_of, is_mirrored, mirrored, taken
from dbsp.circuits.expressions.nodes import Column, Literal

INT = pa.int64()
X = Column(0, INT)


def test_twice_mirrored_is_the_same() -> None:
    turned = mirrored(X)
    assert is_mirrored(turned)
    assert turned.type == INT
    assert mirrored(turned) == X


def test_null_is_in_no_order() -> None:
    null = Literal(None, INT)
    assert mirrored(null) == null
    assert is_mirrored(mirrored(Literal(1, INT)))


def test_a_key_is_of_a_column_as_it_is_or_mirrored() -> None:
    assert [*both([0, 2])] == [0, ~0, 2, ~2]
    assert [column_of(key) for key in both([0, 2])] == [0, 0, 2, 2]
    assert column_at(0, INT) == X
    assert column_at(~0, INT) == mirrored(X)


def test_what_is_known_moves_with_its_columns() -> None:
    assert taken({0: "a", ~0: "b", ~2: "c"}, [(1, 0), (3, 0), (0, 2)]) == {
        1: "a",
        ~1: "b",
        3: "a",
        ~3: "b",
        ~0: "c",
    }
