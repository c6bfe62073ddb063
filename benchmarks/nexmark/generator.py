"""Nexmark's events, vectorised: people open auctions, people bid on auctions.

Of every 50 events, in order, 1 is a person, 3 are auctions, 46 are bids. Event n happens at
`start + n / rate`. Event n knows the people and auctions of the events before it, by arithmetic on n alone:

    people(n)   = ⌊n/50⌋ + 1                       auctions(n) = 3⌊n/50⌋ + clamp(n mod 50, 0..3)

Half of the bids go to the *hot* auction, the latest whose number is a multiple of 100; 3 of 4 bids come from
the hot bidder, and 3 of 4 auctions from the hot seller, found likewise. The others go to one of the latest
100 auctions, or come from one of the latest 1,000 people; ids may run up to 10 ahead of what exists, so that
a join meets the bid before its auction.

Source: Tucker, Tufte, Papadimos, Maier, "NEXMark", 2002, with the ratios and columns of the Apache Beam and
Flink suites. Cost: about 0.5 µs per event on one core.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.nexmark.draws import Draws, Int64
from benchmarks.nexmark.words import HOT_CHANNELS, Pools, pools

PEOPLE, AUCTIONS, BIDS = 1, 3, 46
ROUND = PEOPLE + AUCTIONS + BIDS

FIRST_ID = 1_000  # of people and of auctions
FIRST_CATEGORY, CATEGORIES = 10, 5
HOT_STRIDE = 100
HOT_AUCTION, HOT_BIDDER, HOT_SELLER = 2, 4, 4  # 1 of so many is *not* the hot one
ACTIVE_PEOPLE, OPEN_AUCTIONS, LEAD = 1_000, 100, 10
SHUFFLE = 953  # prime: n ↦ 953·n permutes every group whose size it doesn't divide

TIMESTAMP = pa.timestamp("us", tz="UTC")
_TEXT, _LONG = pa.string(), pa.int64()
PERSON = pa.schema(
    {
        "id": _LONG,
        "name": _TEXT,
        "emailAddress": _TEXT,
        "creditCard": _TEXT,
        "city": _TEXT,
        "state": _TEXT,
        "dateTime": TIMESTAMP,
        "extra": _TEXT,
    }
)
AUCTION = pa.schema(
    {
        "id": _LONG,
        "itemName": _TEXT,
        "description": _TEXT,
        "initialBid": _LONG,
        "reserve": _LONG,
        "dateTime": TIMESTAMP,
        "expires": TIMESTAMP,
        "seller": _LONG,
        "category": _LONG,
        "extra": _TEXT,
    }
)
BID = pa.schema(
    {
        "auction": _LONG,
        "bidder": _LONG,
        "price": _LONG,
        "channel": _TEXT,
        "url": _TEXT,
        "dateTime": TIMESTAMP,
        "extra": _TEXT,
    }
)
SCHEMAS = {"person": PERSON, "auction": AUCTION, "bid": BID}


@dataclass(frozen=True)
class Generator:
    """rate: events per second of event time. start: microseconds since 1970.

    disorder: events are shuffled within groups of that many (1: none), so that a timestamp is at most
    disorder / rate seconds behind one that arrived before it; not a multiple of 953.
    """

    seed: int = 0
    rate: float = 10_000.0
    disorder: int = 1
    start: int = 1_704_067_200_000_000  # 2024-01-01 00:00:00 UTC

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.disorder < 1 or self.disorder % SHUFFLE == 0:
            raise ValueError(f"rate must be positive, disorder ≥ 1 and no multiple of {SHUFFLE}: {self}")

    def events(self, first: int, end: int) -> dict[str, pa.RecordBatch]:
        """Events `first` to `end` − 1 by table, in order of arrival."""
        arrival = np.arange(first, end, dtype=np.int64)
        group = arrival - arrival % self.disorder
        number = group + (arrival - group) * SHUFFLE % self.disorder
        place = number % ROUND
        return {
            "person": self._people(number[place < PEOPLE]),
            "auction": self._auctions(number[(place >= PEOPLE) & (place < PEOPLE + AUCTIONS)]),
            "bid": self._bids(number[place >= PEOPLE + AUCTIONS]),
        }

    def _time(self, number: Int64) -> Int64:
        """Microseconds since 1970."""
        return self.start + (number * (1e6 / self.rate)).astype(np.int64)

    def _people(self, number: Int64) -> pa.RecordBatch:
        draws, words = Draws(self.seed, number), pools()
        digits = [draws.below(k, 10_000) for k in range(4)]
        return pa.record_batch(
            [
                pa.array(FIRST_ID + number // ROUND),
                _pick(words.names, draws, 4),
                _pick(words.emails, draws, 5),
                pc.binary_join_element_wise(*(_four_digits(d) for d in digits), " "),
                _pick(words.cities, draws, 6),
                _pick(words.states, draws, 7),
                _timestamps(self._time(number)),
                _pick(words.person_extras, draws, 8),
            ],
            schema=PERSON,
        )

    def _auctions(self, number: Int64) -> pa.RecordBatch:
        draws, words = Draws(self.seed, number), pools()
        time = self._time(number)
        initial = _prices(draws, 0)
        # An auction lasts, on average, as long as it takes to open as many as are open at a time.
        horizon = max(1, int(OPEN_AUCTIONS * ROUND / AUCTIONS * 1e6 / self.rate))
        lasts = 1_000 * (1 + draws.below(1, max(1, 2 * horizon // 1_000)))
        seller = _hot(_some_person(draws, 3, number), draws.below(2, HOT_SELLER) > 0, _last_person(number))
        return pa.record_batch(
            [
                pa.array(FIRST_ID + _last_auction(number)),
                _pick(words.items, draws, 4),
                _pick(words.descriptions, draws, 5),
                pa.array(initial),
                pa.array(initial + _prices(draws, 6)),
                _timestamps(time),
                _timestamps(time + lasts),
                pa.array(FIRST_ID + seller),
                pa.array(FIRST_CATEGORY + draws.below(7, CATEGORIES)),
                _pick(words.auction_extras, draws, 8),
            ],
            schema=AUCTION,
        )

    def _bids(self, number: Int64) -> pa.RecordBatch:
        draws, words = Draws(self.seed, number), pools()
        last_auction, last_person = _last_auction(number), _last_person(number)
        auction = _hot(_some_auction(draws, 1, number), draws.below(0, HOT_AUCTION) > 0, last_auction)
        bidder = _hot(_some_person(draws, 3, number), draws.below(2, HOT_BIDDER) > 0, last_person, beside=1)
        channel = _channels(draws, 5, words)
        return pa.record_batch(
            [
                pa.array(FIRST_ID + auction),
                pa.array(FIRST_ID + bidder),
                pa.array(_prices(draws, 4)),
                words.channels.take(channel),
                words.urls.take(channel),
                _timestamps(self._time(number)),
                _pick(words.bid_extras, draws, 6),
            ],
            schema=BID,
        )


def _last_person(number: Int64) -> Int64:
    """The latest person at an event, from 0."""
    return number // ROUND


def _last_auction(number: Int64) -> Int64:
    """The latest auction at an event, from 0 (−1 before the first)."""
    return number // ROUND * AUCTIONS + np.clip(number % ROUND - PEOPLE, -1, AUCTIONS - 1)


def _some_person(draws: Draws, k: int, number: Int64) -> Int64:
    people = _last_person(number) + 1
    active = np.minimum(people, ACTIVE_PEOPLE)
    return people - active + draws.below(k, active + LEAD)


def _some_auction(draws: Draws, k: int, number: Int64) -> Int64:
    last = _last_auction(number)
    first = np.maximum(last - OPEN_AUCTIONS, 0)
    return first + draws.below(k, last - first + 1 + LEAD)


def _hot(some: Int64, usually: npt.NDArray[np.bool_], last: Int64, beside: int = 0) -> Int64:
    """The hot one where `usually`, else some other one."""
    return np.where(usually, last // HOT_STRIDE * HOT_STRIDE + beside, some)


def _prices(draws: Draws, k: int) -> Int64:
    """Cents, log-uniform between 1 and 1,000,000 units."""
    cents: Int64 = np.rint(np.exp(draws.unit(k) * (6 * np.log(10.0))) * 100).astype(np.int64)
    return cents


def _channels(draws: Draws, k: int, words: Pools) -> pa.Array:
    """Positions in words.channels: half of them one of the hot ones."""
    bits = draws(k)
    cold = len(words.channels) - len(HOT_CHANNELS)
    index = (bits >> np.uint64(32)) * np.uint64(2 * cold) >> np.uint64(32)
    hot = bits & np.uint64(len(HOT_CHANNELS) - 1)
    return pa.array(np.where(index < cold, hot, index - np.uint64(cold - len(HOT_CHANNELS))).astype(np.int32))


def _pick(pool: pa.StringArray, draws: Draws, k: int) -> pa.StringArray:
    return pool.take(pa.array(draws.below(k, len(pool))))


def _four_digits(number: npt.NDArray[np.int64]) -> pa.Array:
    return pc.utf8_slice_codeunits(pc.cast(pa.array(number + 10_000), pa.string()), 1)


def _timestamps(microseconds: Int64) -> pa.Array:
    return pa.array(microseconds).cast(TIMESTAMP)
