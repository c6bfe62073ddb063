"""The tuples of the binary format are those that a real server finds, wherever the bytes are cut."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.serving.postgres.copying import tuples as module
from dbsp.serving.postgres.copying.received import Received
from dbsp.serving.postgres.copying.tuples import SIGNATURE, head_of, tuples_of
from dbsp.serving.postgres.language.wrong import BadCopy
from tests.effort import examples
from tests.servers.postgres import postgres

HEAD, END = SIGNATURE + bytes(8), b"\xff\xff"
# those of two columns look like the begin of a tuple
VALUES = st.none() | st.sampled_from([b"", b"a", b"\0\2", b"\0\2\0\0\0\1", b"\xff\xff\xff\xff", b"\0\2" * 9])
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=6)
Row = tuple[bytes | None, ...]


def sent(row: Row) -> bytes:
    values = [struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one for one in row]
    return struct.pack("!h", len(row)) + b"".join(values)


def _found(data: bytes, cuts: list[int] = []) -> list[Row] | None:  # noqa: B006
    """None: it isn't the format."""
    rows: list[Row] = []
    rest, is_over, head = b"", False, None
    try:
        for at, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            rest += data[at:end]
            is_last = end == len(data)
            if head is None:
                head = head_of(rest, is_last)
                if head is None:
                    continue
                rest = rest[head:]
            if is_over and rest:
                return None
            found, read, over = tuples_of(rest, 2, len(rows), is_last)
            rest, is_over = rest[read:], is_over or over
            columns = [Received.of(found, i).bytes().to_pylist() for i in range(2)]
            rows += zip(*columns, strict=True)
    except BadCopy:
        return None
    return rows


@pytest.fixture(scope="module")
def real() -> Iterator[psycopg.Connection[Any]]:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        one.execute("CREATE TABLE t (a BYTEA, b BYTEA, place SERIAL)")
        yield one


def _real(one: psycopg.Connection[Any], data: bytes) -> list[Row] | None:
    try:
        with one.cursor(binary=True) as cursor:
            cursor.execute("TRUNCATE t")
            with cursor.copy("COPY t (a, b) FROM STDIN (FORMAT binary)") as copy:
                copy.write(data)
            return cursor.execute("SELECT a, b FROM t ORDER BY place").fetchall()
    except (psycopg.DataError, psycopg.NotSupportedError, psycopg.errors.ProgramLimitExceeded):
        return None


@pytest.mark.slow  # a real server
@given(rows=ROWS, end=st.sampled_from([b"", END, END + b"x"]), drawn=st.data())
@examples(100)
def test_as_a_real_server(
    real: psycopg.Connection[Any], rows: list[Row], end: bytes, drawn: st.DataObject
) -> None:
    data = HEAD + b"".join(map(sent, rows)) + end
    if drawn.draw(st.booleans()):  # something is wrong with it
        at = drawn.draw(st.integers(0, len(data) - 1))
        byte = drawn.draw(st.sampled_from([b"", b"\0", b"\1", b"\xff", b"\0\2"]))
        data = data[:at] + byte + data[at + drawn.draw(st.integers(0, 2)) :]
    assert _found(data) == _real(real, data)


@pytest.mark.slow  # a real server
@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEAD,
        HEAD + END,
        HEAD[:-1],
        HEAD + b"\xff",
        SIGNATURE + struct.pack("!Ii", 0x100, 3) + b"abc" + sent((b"a", None)),
        SIGNATURE + struct.pack("!Ii", 0x10000, 0) + END,
        SIGNATURE + struct.pack("!Ii", 0x20000, 0) + END,
        SIGNATURE + struct.pack("!Ii", 0, -1) + END,
        SIGNATURE + struct.pack("!Ii", 0, 9) + END,
        HEAD + sent((b"a",)),
        HEAD + struct.pack("!hi", 2, -2),
        HEAD + struct.pack("!hii", 2, -1, 2**31 - 1),
        HEAD + sent((b"a", b"b"))[:-1],
        HEAD + END + sent((b"a", b"b")),
    ],
)
def test_ends_and_heads_as_a_real_server_sees_them(real: psycopg.Connection[Any], data: bytes) -> None:
    assert _found(data) == _real(real, data)


@given(rows=ROWS, is_ended=st.booleans(), at_once=st.sampled_from([1, 7, 1 << 20]), drawn=st.data())
@example(rows=[(b"\0\2", None)] * 5, is_ended=True, at_once=1, drawn=None)
def test_wherever_it_is_cut(rows: list[Row], is_ended: bool, at_once: int, drawn: Any) -> None:
    data = HEAD + b"".join(map(sent, rows)) + END * is_ended
    places = st.lists(st.integers(0, len(data)), max_size=3)
    cuts = [len(data) // 2] if drawn is None else sorted(drawn.draw(places))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        assert _found(data, cuts) == rows


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (sent((b"a", b"b")) + sent((b"a",)), r"row 4 has 1 values, needs 2"),
        (sent((b"a", b"b")) + struct.pack("!hi", 2, -7), "row 4 has a value of -7 bytes"),
        (sent((b"a", b"b"))[:-1], "row 3 has no end"),
        (END + b"x", "bytes follow the end"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    with pytest.raises(BadCopy, match=said):
        tuples_of(data, 2, 2, True)
    with pytest.raises(BadCopy, match="that is no binary format"):
        head_of(b"1,2\n", False)
