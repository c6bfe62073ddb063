"""Hashes are what state on disk was written by: their values never change. Nor does a long value cost more
than its bytes, whatever stands beside it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.columns import hashing
from dbsp.circuits.columns.hashing import byte_ranges, hash_rows
from dbsp.circuits.columns.sorting import compare, ranks
from dbsp.circuits.expressions.vectors.cursor import Cursor
from dbsp.circuits.functions.texts.spark_hashes import _Murmur3, _XxHash64

MASK = 0xFFFFFFFFFFFFFFFF


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def as_defined(value: bytes | None, seed: int) -> int:
    """The equation at the head of the module, of one string: eight bytes a round, the last shifted up."""
    hashed = len(value) if value is not None else 0x6E756C6C6E756C6C
    for at in range(0, len(value or b""), 8):
        part = value[at : at + 8]
        word = int.from_bytes(part, "little") << 8 * (8 - len(part))
        hashed = mix((hashed * 0x9E3779B97F4A7C15 ^ word) & MASK)
    return mix((seed * 0x9E3779B97F4A7C15 ^ hashed) & MASK)


@pytest.mark.parametrize("rows", [1, 16, 17, 200])
@pytest.mark.parametrize("longest", [1, 8, 40, 900])
def test_hashes_of_strings_are_as_defined(rows: int, longest: int) -> None:
    drawn = random.Random(rows * longest)
    for _ in range(20):
        lengths = [drawn.choice([0, 1, 7, 8, 9, drawn.randint(0, longest), longest]) for _ in range(rows)]
        values = [None if drawn.random() < 0.1 else drawn.randbytes(length) for length in lengths]
        array = pa.array([b"before", *values], pa.binary())[1:]
        assert hash_rows([array], rows, 7).tolist() == [as_defined(value, 7) for value in values]


@pytest.mark.parametrize("together", [1, 3, 17, 64])
def test_many_rows_are_hashed_some_after_the_other(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(together)
    values = [drawn.choice([None, b"", drawn.randbytes(drawn.randint(0, 30))]) for _ in range(200)]
    columns = [pa.array(values, pa.binary()), pa.array([None, *range(199)], pa.int64())]
    at_once = hash_rows(columns, 200, 7)
    monkeypatch.setattr(hashing, "_ROWS", together)
    assert hash_rows(columns, 200, 7).tolist() == at_once.tolist()
    assert hash_rows(columns[:1], 200, 7).tolist() == [as_defined(value, 7) for value in values]


def test_hashes_are_those_of_state_that_is_there() -> None:
    texts = pa.array(["", "a", "eight by", "a longer one, of three words", None, "x" * 20_000])
    assert [f"{hashed:016x}" for hashed in hash_rows([texts], len(texts)).tolist()] == WRITTEN


WRITTEN = [
    "0000000000000000",
    "fdbb9acb281aa893",
    "252c566e7da886f5",
    "0286723b7cda891b",
    "8cb2369a629251c8",
    "13a24b3419c0c72d",
]

SHORT = [b"a", b"23", b"a.b c"] * 1000
LONG = 500_000


def of_bytes(values: list[bytes]) -> pa.Array:
    return pa.array(values, pa.binary())


def seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def hashed_by_spark(hash_: type, kind: type) -> Callable[[pa.Array], object]:
    def run(array: pa.Array) -> object:
        with np.errstate(over="ignore"):
            return hash_.text(*byte_ranges(array), np.full(len(array), 42, kind))

    return run


OF_TEXT = {
    "hash_rows": lambda array: hash_rows([array], len(array)),
    "hash": hashed_by_spark(_Murmur3, np.uint32),
    "xxhash64": hashed_by_spark(_XxHash64, np.uint64),
    "trim": lambda array: Cursor(array).trim(),
    "digits": lambda array: Cursor(array).digits(),
    "zeros": lambda array: Cursor(array).zeros(),
}


@pytest.mark.parametrize(("hash_", "kind"), [(_Murmur3, np.uint32), (_XxHash64, np.uint64)])
def test_what_else_is_hashed_changes_nothing(hash_: type, kind: type) -> None:
    drawn = random.Random(4)
    values = [drawn.randbytes(drawn.choice([0, 3, 31, 32, 33, drawn.randint(0, 300)])) for _ in range(200)]
    run = hashed_by_spark(hash_, kind)
    alone = [run(of_bytes([value])) for value in values]
    assert run(of_bytes(values)).tolist() == [one for (one,) in alone]  # type: ignore[attr-defined, misc]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_TEXT)
@pytest.mark.parametrize("byte", [b"x", b"7", b"0", b" "])
def test_a_long_value_costs_what_its_bytes_cost(name: str, byte: bytes) -> None:
    """In rounds of all rows, half a megabyte takes 5 s and more, and values a tenth as long half a second."""
    for long in ([byte * LONG], [byte * (LONG // 10)] * 20):
        assert seconds(lambda: OF_TEXT[name](of_bytes(SHORT + long))) < 1  # noqa: B023


@pytest.mark.parametrize("run", [ranks, lambda array: compare(array, array)])
def test_a_long_list_costs_what_its_elements_cost(run: Callable[[pa.Array], object]) -> None:
    long = list(range(50_000))
    assert seconds(lambda: run(pa.array([[1, 2], [1], None] * 1000 + [long, long]))) < 1
