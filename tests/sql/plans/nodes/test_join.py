"""Join: whose columns it has, what tells its pairs apart, and how they are found."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.nodes import Join, Scan
from dbsp.sql.plans.nodes.join import JOINS, is_unique, join_schema
from dbsp.sql.plans.schemas import Field, Key
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import BOOL, INT, T, U, call, column

STRICT = tuple(Field(name, INT, nullable=False) for name in "abcd")
LESS = call("less_than", column(1), column(5), type_=BOOL)
RANGE = call("and", LESS, call("less_than", column(5), column(2), type_=BOOL), type_=BOOL)


def join(
    kind: str, keys: int = 1, residual: Expression | None = None, left: Scan = T, right: Scan = U
) -> Join:
    key = tuple(map(column, range(keys)))
    return Join(
        left, right, kind, key, key, (False,) * keys, residual, join_schema(kind, left.schema, right.schema)
    )


def test_a_side_that_may_be_missing_may_be_null() -> None:
    nullable = {
        kind: [field.nullable for field in join_schema(kind, STRICT[:1], STRICT[:1])] for kind in JOINS
    }
    assert nullable == {
        "inner": [False, False],
        "left": [False, True],
        "full": [True, True],
        "semi": [False],
        "anti": [False],
        "existence": [False, False],
    }


@pytest.mark.parametrize(
    ("kind", "keys", "expected"),
    [
        ("inner", {"t": (3,), "u": (2,)}, (3, 6)),
        ("inner", {"t": (3,), "u": (0,)}, (3,)),  # one match at most
        ("inner", {"t": (0,), "u": (2,)}, (6,)),
        ("inner", {"t": None, "u": (0,)}, None),
        ("left", {"t": (0,), "u": (2,)}, (0, 6)),
        ("left", {"t": (3,), "u": (0,)}, (3,)),
        ("semi", {"t": (3,), "u": None}, (3,)),
        ("existence", {"t": (3,), "u": None}, (3,)),
        ("full", {"t": (3,), "u": (0,)}, None),  # NULLs may stand on either side
    ],
)
def test_what_tells_pairs_apart(kind: str, keys: dict[str, Key], expected: Key) -> None:
    assert join(kind).stream_key(keys) == expected


def test_of_both_sides_where_keys_are_never_null() -> None:
    sides = (Scan("t", STRICT), Scan("u", STRICT))
    assert join("full", left=sides[0], right=sides[1]).stream_key({"t": (3,), "u": (2,)}) == (3, 6)
    assert is_unique((column(0), column(1)), (1,))
    assert not is_unique((column(0), call("abs", column(1))), (1,))


def test_a_first_match_takes_back_the_row_without() -> None:
    grows = {kind: join(kind).append_only({"t": True, "u": True}) for kind in JOINS}
    assert [kind for kind, only in grows.items() if only] == ["inner", "semi"]
    assert not join("inner").append_only({"t": True, "u": False})
    assert (join("inner").obstacle({"t"}), join("anti").obstacle({"t"})) == (None, "ANTI JOIN")
    assert join("semi", residual=LESS).obstacle({"the level before"}) == "SEMI JOIN"


@pytest.mark.parametrize(
    ("residual", "keys", "cost"),
    [
        (None, 1, "lookup of changed keys, two traces"),
        (None, 0, "changed rows by all rows of the other side, two traces"),
        (LESS, 0, "lookup of a half-open range, two traces"),
        (LESS, 1, "lookup of a half-open range of changed keys, two traces"),
    ],
)
def test_how_pairs_are_found(residual: Expression | None, keys: int, cost: str) -> None:
    assert join("inner", keys, residual).cost == cost


def test_keys_and_residual_are_needed() -> None:
    narrower, position = join("existence", residual=RANGE).pruned({4})
    verify(narrower)
    assert [[field.name for field in side.schema] for side in narrower.inputs] == [
        ["a", "b", "c"],
        ["a", "b"],
    ]
    assert position[4] == 3


def test_its_spelling_says_whose_columns_they_are() -> None:
    assert join("left", residual=LESS).spelled == "left join on left.a = right.a AND left.b < right.b"
    assert join("inner", 0).spelled == "inner join of every pair"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", {0, 1, 2, 4, 5, 7}),
        ("left", {2}),
        ("full", set()),
        ("semi", {0, 1, 2}),
        ("anti", {2}),
        ("existence", {2}),
    ],
)
def test_what_a_join_asks_for_is_never_null(kind: str, expected: set[int]) -> None:
    assert join(kind, residual=LESS).asked_for({"t": {2}, "u": {3}}) == expected
