"""What lies in memory, copied at once, is what each of it is by itself."""

from __future__ import annotations

import ctypes

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.pipeline.spark.direct import messages
from dbsp.pipeline.spark.direct.messages import MESSAGES, Messages, copied

VALUES = st.lists(st.none() | st.binary(max_size=6), max_size=12)


def held(*values: bytes | None) -> pa.LargeBinaryArray:
    return pa.array(values, pa.large_binary())


@given(
    st.lists(VALUES, min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=5),
    st.sampled_from([0, 2, 1 << 13]),
    st.permutations(range(4)),
)
def test_what_is_copied(
    answers: list[list[bytes | None]], between: list[int], near: int, order: list[int]
) -> None:
    """Answers lie anywhere, in any order; their values follow each other with something between."""
    lying: dict[int, ctypes.Array[ctypes.c_char]] = {}
    for number in (n for n in order if n < len(answers)):  # in which they get their memory
        values = answers[number]
        text = b"".join(b"-" * between[i % len(between)] + (value or b"") for i, value in enumerate(values))
        lying[number] = ctypes.create_string_buffer(text, len(text) + 1)
    addresses, lengths, wanted = [], [], []
    for number, values in enumerate(answers):
        at = ctypes.addressof(lying[number])
        for i, value in enumerate(values):
            at += between[i % len(between)]
            empty = ctypes.addressof(_EMPTY)  # where librdkafka has every empty one
            addresses.append(0 if value is None else at if value else empty)
            lengths.append(len(value or b""))
            wanted.append(value)
            at += len(value or b"")
    was, messages._NEAR = messages._NEAR, near
    try:
        found = copied(np.array(addresses, np.uint64), np.array(lengths, np.int64)) if wanted else held()
    finally:
        messages._NEAR = was
    for memory in lying.values():  # librdkafka's is given back
        ctypes.memset(memory, 0, len(memory))
    assert found.type == pa.large_binary()
    assert found.to_pylist() == wanted
    found.validate(full=True)


_EMPTY = ctypes.create_string_buffer(1)


def unit() -> Messages:
    return Messages(
        "t", 3, held(b"a", None, b"", b"d"), held(None, b"k", None, b"l"), np.array([5, 6, 8, 9]), None
    )


def test_parts_of_messages() -> None:
    assert unit().part(1, 3).to_arrow().to_pylist() == unit().to_arrow().to_pylist()[1:3]
    assert [len(unit().before(end)) for end in (5, 6, 7, 8, 9, 10)] == [0, 1, 2, 2, 3, 4]
    there = unit().with_values()
    assert (there.values.to_pylist(), there.offsets.tolist()) == ([b"a", b"", b"d"], [5, 8, 9])
    assert there.keys.to_pylist() == [None, None, b"l"]


def test_messages_as_the_connector_gives_them() -> None:
    timed = Messages("t", 3, held(b"a"), held(b"k"), np.array([5]), np.array([1_700_000_000_123]))
    whole = timed.to_arrow()
    assert whole.schema == MESSAGES
    (row,) = whole.to_pylist()
    time = row.pop("timestamp")
    assert row == {"key": b"k", "value": b"a", "topic": "t", "partition": 3, "offset": 5}
    assert time.timestamp() == 1_700_000_000.123
    assert unit().to_arrow().column("timestamp").null_count == 4
