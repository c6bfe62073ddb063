"""Homes of shards: as many to a host as it has cores for, and most stay when hosts come and go."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.running.spark.hosts.homes import homes

CLUSTERS = st.dictionaries(
    st.sampled_from([f"10.0.0.{n}" for n in range(12)]), st.integers(1, 16), min_size=1
)


@given(CLUSTERS, st.integers(1, 200))
def test_no_host_has_more_than_its_share(cores: dict[str, int], shards: int) -> None:
    found = homes(shards, cores)
    assert len(found) == shards
    total = sum(cores.values())
    for host, count in Counter(found).items():
        assert count <= -(-shards * cores[host] // total)


@given(CLUSTERS, st.integers(1, 64), st.randoms())
def test_only_names_and_cores_decide(cores: dict[str, int], shards: int, random: st.DataObject) -> None:
    shuffled = [*cores.items()]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert homes(shards, dict(shuffled)) == homes(shards, cores)


@pytest.mark.parametrize("hosts", [4, 8, 16])
def test_most_shards_stay_when_a_host_goes(hosts: int) -> None:
    cores = {f"worker-{n}": 8 for n in range(hosts)}
    before = homes(64, cores)
    for gone in cores:
        after = homes(64, {host: n for host, n in cores.items() if host != gone})
        moved = sum(b != a for b, a in zip(before, after, strict=True))
        assert before.count(gone) <= moved <= 64 // hosts + 64 // 4
