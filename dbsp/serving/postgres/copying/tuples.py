r"""The tuples of COPY's binary format, found in all bytes at once: no loop over rows.

    PGCOPY\n\377\r\n\0   flags, length: int32   extension   (n: int16 (length: int32 value){n})*   -1: int16

A tuple can begin wherever two bytes say how many columns there are. Where it would end is found for all such
places of a piece at once, one field after the other; tuples are those that the first leads to, by doubling:

    T_0 = {first}        T_{k+1} = T_k ∪ next^(2^k)(T_k)

Source: PostgreSQL 17 documentation, COPY.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsp.serving.postgres.language.wrong import BadCopy

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_HEAD = len(SIGNATURE) + 8
# bytes in which tuples are looked for at once: a value may hold as many that look like one
_AT_ONCE = 1 << 20
# of the flags those that who doesn't know them can't go on with
_CRITICAL = 0xFFFF0000


@dataclass(frozen=True)
class Tuples:
    """data: uint8[n]. begins, sizes: of values, int64[columns, rows]; a size of -1 is NULL."""

    data: np.ndarray
    begins: np.ndarray
    sizes: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.begins.shape[1])


def head_of(data: bytes, is_last: bool) -> int | None:
    """The bytes before the first tuple; None: there are too few yet. Raises BadCopy."""
    if data[: len(SIGNATURE)] != SIGNATURE[: len(data)]:
        raise BadCopy("COPY: that is no binary format of COPY; text and CSV are said by FORMAT")
    if len(data) >= _HEAD:
        flags, extension = (
            int.from_bytes(data[i : i + 4], "big", signed=signed)
            for i, signed in ((_HEAD - 8, False), (_HEAD - 4, True))
        )
        if flags & _CRITICAL:
            raise BadCopy(f"COPY: the header has flags {flags:#x} that are unknown")
        if extension < 0:
            raise BadCopy("COPY: the header's extension has less than no bytes")
        if len(data) >= _HEAD + extension:
            return _HEAD + extension
    if is_last:
        raise BadCopy("COPY: the header of the binary format has no end")
    return None


def tuples_of(data: bytes, columns: int, row: int, is_last: bool) -> tuple[Tuples, int, bool]:
    """(the whole tuples, the bytes that were read, whether the end was said)

    row: how many came before. Raises BadCopy.
    """
    given = np.frombuffer(data, np.uint8)
    read, parts = 0, [np.empty(0, np.int64)]
    while True:
        begins, end = _next(given, read, columns)
        if not len(begins):
            break
        parts.append(begins)
        read = end
    found = _values(given, np.concatenate(parts), columns)
    if data[read : read + 2] == b"\xff\xff":
        if len(data) > read + 2:
            raise BadCopy("COPY: bytes follow the end of the binary format")
        return found, read + 2, True
    _check(data[read:], columns, row + found.rows, is_last)
    return found, read, False


def _next(given: np.ndarray, first: int, columns: int) -> tuple[np.ndarray, int]:
    """The whole tuples that begin in the next _AT_ONCE bytes, from `first` on, and the last one's end."""
    some = given[first : first + _AT_ONCE + 1]
    high, low = columns.to_bytes(2, "big")
    begins = first + np.flatnonzero((some[:-1] == high) & (some[1:] == low))
    ends = _ends(given, begins, columns)
    whole = ends <= len(given)
    begins, ends = begins[whole], ends[whole]
    if not len(begins) or begins[0] != first:
        return begins[:0], first
    chain = _chain(begins, ends)
    return begins[chain], int(ends[chain[-1]])


def _ends(given: np.ndarray, begins: np.ndarray, columns: int) -> np.ndarray:
    """Where a tuple ends that begins there; beyond the bytes where none does."""
    ends = np.full(len(begins), len(given) + 1)
    there, at = np.arange(len(begins)), begins + 2
    for _ in range(columns):
        fits = at + 4 <= len(given)
        there, at = there[fits], at[fits]
        sizes = _int32(given, at)
        at = at + 4 + np.maximum(sizes, 0)
        fits = (sizes >= -1) & (at <= len(given))
        there, at = there[fits], at[fits]
    ends[there] = at
    return ends


def _chain(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The positions of those that follow one another from the first."""
    count = len(begins)
    after = np.minimum(np.searchsorted(begins, ends), count - 1)
    jump = np.append(np.where(begins[after] == ends, after, count), count)
    found = np.zeros(1, np.int64)
    while True:
        more = jump[found]
        more = more[more < count]
        if len(more) < len(found):
            return np.concatenate((found, more))
        found, jump = np.concatenate((found, more)), jump[jump]


def _values(given: np.ndarray, begins: np.ndarray, columns: int) -> Tuples:
    places = np.empty((columns, len(begins)), np.int64)
    lengths = np.empty_like(places)
    at = begins + 2
    for i in range(columns):
        lengths[i] = _int32(given, at)
        places[i] = at = at + 4
        at = at + np.maximum(lengths[i], 0)
    return Tuples(given, places, lengths)


def _int32(given: np.ndarray, at: np.ndarray) -> np.ndarray:
    """int64[len(at)]"""
    parts = given[at[:, None] + np.arange(4)]
    return parts.view(">i4")[:, 0].astype(np.int64)


def _check(rest: bytes, columns: int, row: int, is_last: bool) -> None:
    """What is left may be the begin of a tuple, unless nothing comes any more. Raises BadCopy."""
    if len(rest) >= 2 and (count := int.from_bytes(rest[:2], "big", signed=True)) != columns:
        raise BadCopy(f"COPY: row {row + 1} has {count} values, needs {columns}")
    at = 2
    for _ in range(columns):
        size = int.from_bytes(rest[at : at + 4], "big", signed=True) if at + 4 <= len(rest) else 0
        if size < -1:
            raise BadCopy(f"COPY: row {row + 1} has a value of {size} bytes")
        at += 4 + max(size, 0)
    if is_last and len(rest) > 1:  # half of what ends it ends it, too, as PostgreSQL has it
        raise BadCopy(f"COPY: row {row + 1} has no end")
