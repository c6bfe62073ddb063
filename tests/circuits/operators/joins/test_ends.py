"""The ends of keys before a step and after it, whatever was taken back and however few rows are fetched."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.operators.joins import ends
from dbsp.circuits.operators.joins.ends import AFTER, BEFORE, Ends, ends_of
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.effort import examples
from tests.generators.columns.zsets import Naive, naive_of, plus, zset_of

KEYS = [0, 1, 5, None]
# several share an order code, of the least and of the greatest
VALUES = ["aaaa", "aaaab", "aaaac", "b", "zzzz", "zzzza", "zzzzz", None]
SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
rows = st.tuples(st.sampled_from([0, 0, 1, None]), st.sampled_from(VALUES))
batches = st.lists(st.lists(st.tuples(rows, st.integers(-1, 2)), max_size=16), min_size=1, max_size=4)


def found(listed: list[Any], least: bool, greatest: bool, seed: int) -> Ends:
    """Of KEYS; the last batch is the step's."""
    *before, delta = [Batch.build(LAYOUT, zset_of(SCHEMA, listing), seed) for listing in listed]
    keys = pa.array(KEYS, pa.int64())
    hashes = hash_rows([keys], len(KEYS), seed)
    order = np.argsort(hashes, kind="stable")
    made = ends_of(
        Integral(LAYOUT, as_runs(*before), delta),
        [keys.take(pa.array(order))],
        hashes[order],
        least,
        greatest,
    )
    back = np.argsort(order)
    return Ends(made.values, made.least[:, back], made.greatest[:, back])


def held(listed: list[Any]) -> Naive:
    return plus(*(naive_of(zset_of(SCHEMA, listing)) for listing in listed))


def are_ends(listed: list[Any], asked: tuple[bool, bool], count: int, seed: int) -> None:
    """What is found is what there is, if so many rows are fetched first."""
    with patch.object(ends, "_FIRST_FETCH", count):
        made = found(listed, *asked, seed)
    values = made.values.to_pylist()
    for i, key in enumerate(KEYS):
        places: dict[str, set[int]] = {}
        for side, there in ((BEFORE, held(listed[:-1])), (AFTER, held(listed))):
            of_key = [v for (_, k, v), n in there.items() if k == key and v is not None and n > 0]
            for is_asked, end, one in zip(asked, (made.least, made.greatest), (min, max), strict=True):
                at = int(end[side, i])
                assert (None if at < 0 else values[at]) == (one(of_key) if of_key and is_asked else None)
                if at >= 0:
                    places.setdefault(values[at], set()).add(at)
        assert all(len(at) == 1 for at in places.values()), "equal values of a key have one position"


def of_one_key(*listings: str) -> list[list[Any]]:
    """+ and - before a value: what comes of it."""
    return [[((0, one[1:]), 1 if one[0] == "+" else -1) for one in listing.split()] for listing in listings]


# what isn't fetched has the code of an end that is taken back; of another run the horizon is nearer
CLOSE = [
    [*runs, f"-{value} +{other}"]
    for values, other, runs in (
        (("aaaa", "aaaab"), "aaaac", ["+aaaa +aaaab +zzzz"]),
        (("aaaa", "aaaab"), "aaaac", ["+aaaa +aaaab +zzzz", "+b +zzzz +zzzza"]),
        (("zzzza", "zzzzz"), "zzzz", ["+aaaa +zzzza +zzzzz"]),
        (("zzzza", "zzzzz"), "zzzz", ["+aaaa +zzzza +zzzzz", "+aaaa +aaaab +b"]),
    )
    for value in values
]


@pytest.mark.parametrize("listings", CLOSE)
def test_what_is_beyond_the_horizon_doesn_t_decide(listings: list[str]) -> None:
    """Of one end alone: what doesn't decide of the other is fetched for both."""
    for asked in ((True, False), (False, True)):
        are_ends(of_one_key(*listings), asked, 1, 0)


@examples(800)
@given(
    batches, st.sampled_from([(True, False), (False, True), (True, True)]), st.integers(1, 3), st.booleans()
)
def test_ends(listed: list[Any], asked: tuple[bool, bool], count: int, collide: bool) -> None:
    are_ends(listed, asked, count, FOUR_BITS if collide else 0)


def test_a_few_rows_of_a_key_are_enough() -> None:
    """Of ten thousand, eight a run; and more only where those have been taken back."""
    schema = pa.schema([("k", pa.int64()), ("v", pa.int64())])
    layout = Layout(schema, (0,), order=1)
    many = [((1, v), 1) for v in range(10_000)]
    gone = [((1, v), -1) for v in range(5)]
    run, back, delta = (Batch.build(layout, zset_of(schema, rows), 0) for rows in (many, gone, []))
    keys = [pa.array([1])]
    for runs, least, most in (([run], 0, 8), ([run, back], 5, 8 + 5 + 64 + 5)):
        fetched = []

        def counted(*args: Any, fetch: Any = ends._fetch, told: list[int] = fetched) -> Any:
            made = fetch(*args)
            told.append(len(made.owner))
            return made

        with patch.object(ends, "_fetch", counted):
            made = ends_of(Integral(layout, as_runs(*runs), delta), keys, hash_rows(keys, 1, 0), True, True)
        values = made.values.to_pylist()
        assert [values[i] for i in (*made.least[:, 0], *made.greatest[:, 0])] == [least] * 2 + [9_999] * 2
        assert sum(fetched) <= most
