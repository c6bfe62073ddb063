"""The generator: any range by itself, the suite's proportions, ids that refer to what exists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.nexmark.generator import FIRST_ID, LEAD, SCHEMAS, Generator
from tests.effort import examples

cuts = st.lists(st.integers(0, 3_000), min_size=2, max_size=6).map(sorted)


@pytest.mark.slow
@examples(30)
@given(cuts=cuts, seed=st.integers(0, 3), disorder=st.sampled_from([1, 7, 100]))
def test_a_range_does_not_depend_on_its_chunks(cuts, seed, disorder):
    generator = Generator(seed=seed, disorder=disorder)
    whole = generator.events(cuts[0], cuts[-1])
    chunks = [generator.events(a, b) for a, b in pairwise(cuts)]
    for table, schema in SCHEMAS.items():
        assert whole[table].schema == schema
        assert pa.Table.from_batches([whole[table]]).equals(
            pa.Table.from_batches([chunk[table] for chunk in chunks]).combine_chunks()
        )


def test_the_seed_changes_the_events_and_not_their_ids():
    one, two = Generator(seed=1).events(0, 5_000), Generator(seed=2).events(0, 5_000)
    assert one["auction"]["id"] == two["auction"]["id"]
    assert one["bid"]["price"] != two["bid"]["price"]
    assert one["bid"] == Generator(seed=1).events(0, 5_000)["bid"]


def test_proportions_and_hot_ratios():
    tables = Generator().events(100_000, 200_000)
    assert {name: rows.num_rows for name, rows in tables.items()} == {
        "person": 2_000,
        "auction": 6_000,
        "bid": 92_000,
    }
    bids, auctions = tables["bid"], tables["auction"]

    def share(column: pa.Array, beside: int = 0) -> float:
        return float(np.mean((column.to_numpy() - FIRST_ID) % 100 == beside))

    assert share(bids["auction"]) == pytest.approx(1 / 2, abs=0.02)
    assert share(bids["bidder"], beside=1) == pytest.approx(3 / 4, abs=0.02)
    assert share(auctions["seller"]) == pytest.approx(3 / 4, abs=0.02)
    hot_channels = pc.is_in(bids["channel"], pa.array(["Google", "Facebook", "Baidu", "Apple"]))
    assert np.mean(hot_channels.to_numpy(zero_copy_only=False)) == pytest.approx(1 / 2, abs=0.02)


def test_rows_refer_to_what_exists_or_soon_will():
    tables = Generator().events(0, 50_000)
    people, auctions, bids = (tables[name].to_pandas() for name in ("person", "auction", "bid"))
    assert list(people["id"]) == list(range(FIRST_ID, FIRST_ID + 1_000))
    assert list(auctions["id"]) == list(range(FIRST_ID, FIRST_ID + 3_000))
    people_so_far = FIRST_ID + np.arange(1_000).repeat([3] * 1_000)
    assert auctions["seller"].between(FIRST_ID, people_so_far + LEAD).all()
    auctions_so_far = FIRST_ID + np.arange(3, 3_003, 3).repeat(46)
    assert bids["auction"].between(FIRST_ID, auctions_so_far + LEAD).all()
    assert (bids["auction"] >= auctions_so_far).any(), "no bid arrives before its auction"
    assert (auctions["expires"] > auctions["dateTime"]).all()
    assert (auctions["reserve"] > auctions["initialBid"]).all()
    assert bids["price"].between(100, 10**8).all()


def test_time_follows_the_rate_and_the_disorder():
    in_order = Generator(rate=1_000).events(0, 10_000)["bid"]["dateTime"].cast(pa.int64()).to_numpy()
    assert (np.diff(in_order) >= 0).all()
    assert in_order[-1] - in_order[0] == pytest.approx(10_000_000, rel=0.01)
    shuffled = Generator(rate=1_000, disorder=50).events(0, 10_000)["bid"]["dateTime"]
    behind = (
        np.maximum.accumulate(shuffled.cast(pa.int64()).to_numpy()) - shuffled.cast(pa.int64()).to_numpy()
    )
    assert 0 < behind.max() <= 50_000
    assert sorted(shuffled.cast(pa.int64()).to_numpy()) == list(in_order)


@pytest.mark.parametrize("options", [{"rate": 0}, {"disorder": 0}, {"disorder": 953}])
def test_senseless_options_are_refused(options):
    with pytest.raises(ValueError, match="rate must be positive"):
        Generator(**options)
