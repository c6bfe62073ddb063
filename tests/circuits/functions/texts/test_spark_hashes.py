"""HASH and XXHASH64: the xxhash library's, Murmur3 by its definition, and what Spark documents."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.functions.library import find
from tests.circuits.functions.calling import call, called

INT, LONG = pa.int32(), pa.int64()


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def xx(data: bytes, seed: int = 42) -> int:
    return signed(xxhash.xxh64_intdigest(data, seed % 2**64), 64)


def rotated(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & 0xFFFFFFFF


def murmur(data: bytes, seed: int = 42) -> int:
    """MurmurHash3_x86_32, but that each byte after the last word is a word of its own, as in Spark."""
    h, whole = seed % 2**32, len(data) // 4 * 4
    words = [*struct.unpack(f"<{whole // 4}I", data[:whole]), *(signed(b, 8) % 2**32 for b in data[whole:])]
    for word in words:
        k = rotated(word * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
        h = (rotated(h ^ k, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return signed(h ^ h >> 16, 32)


HASHES = {"xx_hash64": (LONG, xx), "murmur3_hash": (INT, murmur)}
names = st.sampled_from(sorted(HASHES))


@given(names, st.lists(st.one_of(st.none(), st.binary(max_size=70)), min_size=1, max_size=12))
@example("xx_hash64", [b"x" * n for n in range(40)])
@example("murmur3_hash", [b"\xff" * n for n in range(12)])
def test_bytes(name: str, values: list[bytes | None]) -> None:
    data_type, of = HASHES[name]
    found = called(name, data_type, pa.array(values, pa.binary()))
    assert found == [42 if value is None else of(value) for value in values]


@given(
    names,
    st.lists(
        st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=5
    ),
)
def test_several_columns_are_chained(name: str, pairs: list[tuple[int, int]]) -> None:
    data_type, of = HASHES[name]
    small, large = pa.array([a for a, _ in pairs], INT), pa.array([b for _, b in pairs], LONG)
    words = [(struct.pack("<i", a), struct.pack("<q", b)) for a, b in pairs]
    assert called(name, data_type, small) == [of(a) for a, _ in words]
    assert called(name, data_type, small, large) == [of(b, of(a)) for a, b in words]
    assert called(name, data_type, large, seed=7) == [of(b, 7) for _, b in words]


ONE: list[tuple[pa.Array, bytes]] = [
    (pa.array([True]), struct.pack("<i", 1)),
    (pa.array([-1], pa.int8()), struct.pack("<i", -1)),
    (pa.array([1.5]), struct.pack("<d", 1.5)),
    (pa.array([-0.0]), struct.pack("<d", 0.0)),
    (pa.array([1.5], pa.float32()), struct.pack("<f", 1.5)),
    (pa.array([19000], pa.date32()), struct.pack("<i", 19000)),
    (pa.array([10**15], pa.timestamp("us", "UTC")), struct.pack("<q", 10**15)),
    (pa.array([Decimal("1.50")], pa.decimal128(10, 2)), struct.pack("<q", 150)),
    (pa.array([Decimal(128)], pa.decimal128(38, 0)), b"\x00\x80"),
    (pa.array([Decimal(-129)], pa.decimal128(38, 0)), b"\xff\x7f"),
    (pa.array([Decimal(0)], pa.decimal128(38, 0)), b"\x00"),
    (pa.array([Decimal(2) ** 64], pa.decimal128(38, 0)), b"\x01" + bytes(8)),
]


@pytest.mark.parametrize("name", HASHES)
@pytest.mark.parametrize(("array", "data"), ONE)
def test_a_value_is_its_bytes(name: str, array: pa.Array, data: bytes) -> None:
    data_type, of = HASHES[name]
    assert called(name, data_type, array) == [of(data)]


@pytest.mark.parametrize("name", HASHES)
def test_lists_and_structs_are_chained(name: str) -> None:
    data_type, of = HASHES[name]
    one, two = struct.pack("<i", 1), struct.pack("<i", 2)
    lists = pa.array([[1, None, 2], [], None], pa.list_(INT))
    assert called(name, data_type, lists) == [of(two, of(one)), 42, 42]
    structs = pa.array([{"a": 1, "b": None}, None], pa.struct([("a", INT), ("b", INT)]))
    assert called(name, data_type, structs) == [of(one), 42]


# SELECT hash('Spark', array(123), 2), xxhash64(...) of Spark's documentation
@pytest.mark.parametrize(
    ("name", "found"), [("murmur3_hash", -1321691492), ("xx_hash64", 5602566077635097486)]
)
def test_documented(name: str, found: int) -> None:
    arguments: list[Any] = [pa.array(["Spark"]), pa.array([[123]], pa.list_(INT)), pa.scalar(2, INT)]
    assert called(name, HASHES[name][0], *arguments) == [found]


def test_maps_are_refused() -> None:
    function = find("xx_hash64")
    assert function is not None
    assert function.refuse(call("xx_hash64", LONG, pa.array([], pa.map_(INT, INT))))
