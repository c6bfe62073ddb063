"""The vocabularies text columns draw from: built once per process, the same for every seed.

A text column is `pool.take(index)`: one gather over Arrow buffers, no string is made row by row. Names,
cities and channels are the suite's; where the suite makes fresh random letters for every row, the pools
hold a few thousand such texts of the suite's lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

FIRST_NAMES = ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"]
LAST_NAMES = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"]
STATES = ["AZ", "CA", "ID", "OR", "WA", "WY"]
CITIES = [
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
]
HOT_CHANNELS = ["Google", "Facebook", "Baidu", "Apple"]
COLD_CHANNELS = 10_000
TEXTS = 4_096


@dataclass(frozen=True)
class Pools:
    """channels and urls are parallel: the hot ones first, then the cold ones."""

    names: pa.StringArray
    emails: pa.StringArray
    states: pa.StringArray
    cities: pa.StringArray
    channels: pa.StringArray
    urls: pa.StringArray
    items: pa.StringArray
    descriptions: pa.StringArray
    person_extras: pa.StringArray
    auction_extras: pa.StringArray
    bid_extras: pa.StringArray


def _texts(random: np.random.Generator, count: int, shortest: int, longest: int) -> list[str]:
    """Lower-case texts with lengths in [shortest, longest]."""
    lengths = random.integers(shortest, longest + 1, count)
    letters = random.integers(ord("a"), ord("z") + 1, int(lengths.sum()), dtype=np.uint8).tobytes().decode()
    ends = np.cumsum(lengths).tolist()
    return [letters[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _urls(random: np.random.Generator, count: int) -> list[str]:
    parts = _texts(random, 3 * count, 5, 5)
    return [
        f"https://www.nexmark.com/{a}/{b}/{c}/item.htm?query=1"
        for a, b, c in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


@cache
def pools() -> Pools:
    random = np.random.Generator(np.random.PCG64(50))
    users, hosts = _texts(random, TEXTS, 3, 7), _texts(random, TEXTS, 3, 5)
    cold_urls = [
        f"{url}&channel_id={channel}" if channel % 10 else url
        for channel, url in enumerate(_urls(random, COLD_CHANNELS))
    ]
    return Pools(
        names=pa.array([f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]),
        emails=pa.array([f"{user}@{host}.com" for user, host in zip(users, hosts, strict=True)]),
        states=pa.array(STATES),
        cities=pa.array(CITIES),
        channels=pa.array(HOT_CHANNELS + [f"channel-{i}" for i in range(COLD_CHANNELS)]),
        urls=pa.array(_urls(random, len(HOT_CHANNELS)) + cold_urls),
        items=pa.array(_texts(random, TEXTS, 3, 20)),
        descriptions=pa.array(_texts(random, TEXTS, 3, 100)),
        person_extras=pa.array(_texts(random, TEXTS, 80, 120)),
        auction_extras=pa.array(_texts(random, TEXTS, 300, 450)),
        bid_extras=pa.array(_texts(random, TEXTS, 54, 82)),
    )
