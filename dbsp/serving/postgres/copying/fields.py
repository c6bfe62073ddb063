r"""The fields of COPY's text and CSV, found in all bytes at once: no loop over rows, and none over fields.

    text     a backslash means what follows it; \N is NULL, and a row of \. the end
    CSV      between an odd number of quotes nothing ends; there a quote that another one follows is a quote

A byte is within quotes where the number of quotes before it is odd, and follows a backslash where the run of
backslashes before it is odd: both are sums over bytes.  Source: PostgreSQL 17 documentation, COPY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.serving.postgres.copying.statement import Copy
from dbsp.serving.postgres.language.wrong import BadCopy

_BACKSLASH, _NEWLINE, _RETURN, _DOT = b"\\\n\r."
# what a letter after a backslash means
_MEANT = np.arange(256, dtype=np.uint8)
_MEANT[list(b"bfnrtv")] = list(b"\b\f\n\r\t\v")
_CODES = np.isin(np.arange(256), list(b"01234567x"))


@dataclass(frozen=True)
class _Bytes:
    """given: uint8[n]. said: bool[n]: it stands for itself, and not for a mark. gone: bool[n]: no value has
    it. values: uint8[n]: what values have there.
    """

    given: np.ndarray
    said: np.ndarray
    gone: np.ndarray
    values: np.ndarray


def fields_of(
    data: bytes, copy: Copy, names: Sequence[str], row: int, is_last: bool
) -> tuple[list[pa.Array], int, bool]:
    """(string[m] of each column, the bytes that were read, whether the end was said)

    Whole rows are read, of the last piece all. names: of the columns. row: how many came before.
    Raises BadCopy.
    """
    found, ends = _marked(data, copy)
    added = False
    if is_last and data and not (len(ends) and ends[-1] == len(data) - 1):
        (found, ends), added = _marked(data + b"\n", copy), True
        if copy.form == "text" and found.said[-1]:  # a backslash before nothing
            found, ends = _marked(data[:-1] + b"\n", copy)
        if not (len(ends) and ends[-1] == len(found.given) - 1):
            raise BadCopy("COPY: the last value has no end")
    read = int(ends[-1]) + 1 if len(ends) else 0
    begins = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
    stops = ends - _returns(found, ends, begins, added)
    is_over = _says_the_end(found, begins, stops)
    if is_over is not None:
        ends, stops = ends[:is_over], stops[:is_over]
    return _columns(found, copy, ends, stops, names, row), read, is_over is not None


def _marked(data: bytes, copy: Copy) -> tuple[_Bytes, np.ndarray]:
    """What the bytes mean, and where rows end."""
    found = (_quoted if copy.form == "csv" else _escaped)(np.frombuffer(data, np.uint8), copy)
    return found, np.flatnonzero((found.given == _NEWLINE) & ~found.said)


def _escaped(given: np.ndarray, copy: Copy) -> _Bytes:
    said, gone, values = np.zeros(len(given), bool), np.zeros(len(given), bool), given
    marks = np.flatnonzero(given == _BACKSLASH)
    if len(marks):
        starts = np.maximum.accumulate(np.where(np.diff(marks, prepend=-2) > 1, marks, 0))
        marks = marks[(marks - starts) % 2 == 0]
        marks = marks[marks + 1 < len(given)]
        gone[marks] = said[marks + 1] = True
        if _CODES[given[marks + 1]].any():
            raise BadCopy("COPY: a byte is written as its code, such as \\x41; write the character itself")
        values = given.copy()
        values[marks + 1] = _MEANT[given[marks + 1]]
    return _Bytes(given, said, gone, values)


def _quoted(given: np.ndarray, copy: Copy) -> _Bytes:
    is_quote = given == copy.quote[0]
    if not is_quote.any():
        nothing = np.zeros(len(given), bool)
        return _Bytes(given, nothing, nothing, given)
    # of the sum only its parity is read, which a byte keeps
    inside = (np.cumsum(is_quote, dtype=np.uint8) - is_quote) % 2 == 1
    doubled = is_quote & inside & np.append(is_quote[1:], False)
    return _Bytes(given, inside | is_quote, is_quote & ~doubled, given)


def _returns(found: _Bytes, ends: np.ndarray, begins: np.ndarray, added: bool) -> np.ndarray:
    r"""Of each row, whether it ends by \r\n: all do, or none. added: the end of the last one isn't its own.

    Raises BadCopy, also for \r elsewhere.
    """
    returns = np.flatnonzero((found.given == _RETURN) & ~found.said)
    before: np.ndarray = (ends > begins) & (found.given[ends - 1] == _RETURN) & ~found.said[ends - 1]
    own = before[: len(before) - added]
    if len(ends) and np.searchsorted(returns, ends[-1]) > np.count_nonzero(before):
        raise BadCopy("COPY: a carriage return stands within a row; write it as \\r, in CSV within quotes")
    if own.any() and not own.all():
        raise BadCopy("COPY: some rows end by a carriage return and a newline, others by a newline alone")
    return before


def _says_the_end(found: _Bytes, begins: np.ndarray, stops: np.ndarray) -> int | None:
    r"""The first row that is nothing but \. ; raises BadCopy where that stands within a row of text."""
    two = np.flatnonzero(stops - begins == 2)
    begun = begins[two]
    rows = two[(found.given[begun] == _BACKSLASH) & (found.given[begun + 1] == _DOT)]
    end = int(begins[rows[0]]) if len(rows) else len(found.given)
    dots = np.flatnonzero((found.given[1:end] == _DOT) & found.said[1:end])
    if (found.gone[dots] & (found.given[dots] == _BACKSLASH)).any():
        raise BadCopy("COPY: \\. stands within a row; write . without the backslash")
    return int(rows[0]) if len(rows) else None


def _columns(
    found: _Bytes, copy: Copy, ends: np.ndarray, stops: np.ndarray, names: Sequence[str], row: int
) -> list[pa.Array]:
    if not len(ends):
        return [pa.array([], pa.string()) for _ in names]
    size, width = int(ends[-1]) + 1, len(names)
    is_bound = (found.given[:size] == copy.delimiter[0]) & ~found.said[:size]
    is_bound[ends] = True
    bounds = np.flatnonzero(is_bound)
    counts = np.diff(np.searchsorted(bounds, ends), prepend=-1)
    wrong = np.flatnonzero(counts != width)
    if len(wrong):
        at, wanted = int(wrong[0]), f"{width} ({', '.join(names)})"
        raise BadCopy(f"COPY: row {row + at + 1} has {counts[at]} values, needs {wanted}")
    begins, until = np.concatenate(([0], bounds[:-1] + 1)), bounds.copy()
    until[width - 1 :: width] = stops
    kept = ~(found.gone[:size] | is_bound)
    kept[stops[stops < ends]] = False  # \r
    is_null = until - begins == len(copy.null)
    for i, byte in enumerate(copy.null):
        is_null[is_null] = found.given[begins[is_null] + i] == byte
    before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    offsets = np.append(before[begins], before[-1])
    buffers = [np.packbits(~is_null, bitorder="little"), offsets, found.values[:size][kept]]
    fields = pa.Array.from_buffers(pa.large_binary(), len(bounds), [*map(pa.py_buffer, buffers)])
    every = [fields.take(pa.array(np.arange(i, len(bounds), width))) for i in range(width)]
    try:
        return [pc.cast(column, pa.string()) for column in every]
    except pa.ArrowInvalid as error:
        raise BadCopy(f"COPY: a value of rows {row + 1} to {row + len(ends)} is no UTF-8") from error
