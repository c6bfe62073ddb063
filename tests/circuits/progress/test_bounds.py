"""What waterlines prove of a union and of a projection."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.progress.bounds import NO_MORE, projected, union

INT = pa.int64()
A, B = Column(0, INT), Column(1, INT)
ANSI = (("evalMode", "ANSI"),)


def test_a_union_is_bounded_where_all_are_by_the_least() -> None:
    assert union([{0: (A,), 1: (A,)}, {1: (B,), 2: (B,)}]) == {1: (A, B)}
    assert union([{0: (A,)}]) == {0: (A,)}
    assert union([{0: (A,)}, {}]) == {}
    assert union([]) == {}


def test_what_has_no_more_rows_bounds_nothing_away() -> None:
    assert union([{0: (A,)}, NO_MORE]) == {0: (A,)}
    assert union([NO_MORE, NO_MORE]) == {}


def test_a_projection_is_bounded_where_it_is_monotone() -> None:
    one = Literal(1, INT)
    later = Call("add", (Column(3, INT), one), INT, True, ANSI)
    falling = Call("subtract", (one, Column(3, INT)), INT, True, ANSI)
    found = projected([Column(3, INT), later, falling, Column(2, INT), one], {3: (A,)})
    assert found[0] == (A,)
    assert found[1] == (Call("add", (A, one), INT, True, ANSI),)
    assert not {2, 3} & found.keys()
