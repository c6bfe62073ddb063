"""The order of rows, as ORDER BY has it, vectorised.

    x < y  ⇔  keys(x) < keys(y), lexicographically        keys: int64 columns, any number a value

NaN is the greatest number, 0.0 and -0.0 tie, strings and binaries compare by their bytes, arrays element by
element, structs field by field; a NULL comes first or last as the sort key says, and first inside a value.
*Exact* keys also tell apart what ties but isn't the same row: 0.0 and -0.0.

Cost: O(n log n). Keys are packed into as few 64-bit words as their ranges allow, most often one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import (
    child_arrays,
    decimal_words,
    fixed_values,
    int64_array,
    positions_of,
    take_values,
    validity,
)
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.order_codes import has_order_bits, order_bits
from dbsp.circuits.columns.ranges import expand_lengths, expand_ranges
from dbsp.circuits.columns.stacked import Stacked

Words = list[np.ndarray]

# up to so many rows are sorted by all words at once in less time than the calls take that spare it
_FEW = 256


@dataclass(frozen=True)
class SortKey:
    """One item of an ORDER BY list: a column of the rows."""

    column: int
    descending: bool = False
    nulls_last: bool = False


def keys_of(rows: pa.RecordBatch | Stacked, order: Sequence[SortKey]) -> list[np.ndarray]:
    """The keys of an ORDER BY list, most significant first."""
    return [
        key for item in order for key in sort_keys(rows.column(item.column), item.descending, item.nulls_last)
    ]


def sort_keys(
    array: pa.Array, descending: bool = False, nulls_last: bool = False, exact: bool = False
) -> list[np.ndarray]:
    """int64 arrays, each n long, that compare as the values do."""
    keys = _value_keys(array, exact)
    if descending:
        keys = [~key for key in keys]
    if not array.null_count:
        return keys
    valid = validity(array)
    return [(valid != nulls_last).astype(np.int64), *(np.where(valid, key, 0) for key in keys)]


def pack(keys: Sequence[np.ndarray]) -> Words:
    """The same order in fewer uint64 arrays."""
    words: Words = []
    left = 0
    for key in keys:
        low = int(key.min()) if len(key) else 0
        bits = (int(key.max()) - low).bit_length() if len(key) else 0
        if not bits:
            continue
        digits = key.view(np.uint64) - np.uint64(low & 0xFFFFFFFFFFFFFFFF)
        if bits <= left:
            words[-1] = (words[-1] << np.uint64(bits)) | digits
            left -= bits
        else:
            words.append(digits)
            left = 64 - bits
    return words


def sort_words(words: Words, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(positions int64[count] in order, ties in any; bool[count]: whether the row there opens a run: it
    differs from the one before it).

    By the first word, and what ties by the next: NumPy sorts one word several times as fast as two.
    """
    if not words:
        return np.arange(count), np.arange(count) == 0
    if count <= _FEW and len(words) > 1:
        order = np.lexsort(words[::-1])
        return order, np.logical_or.reduce([_differs(word[order]) for word in words])
    order = words[0].argsort()
    opens = _differs(words[0][order])
    for word in words[1:]:
        _refine(order, opens, lambda rows, word=word: [word[rows]])  # type: ignore[misc]
    return order, opens


def _refine(
    order: np.ndarray, opens: np.ndarray, keys_at: Callable[[np.ndarray], Sequence[np.ndarray]]
) -> None:
    """Sort what ties by further keys, in place. keys_at: those of the rows at some positions."""
    tied = ~opens
    tied[:-1] |= tied[1:]
    (places,) = tied.nonzero()
    if not len(places):
        return
    rows, runs = order[places], opens.cumsum()[places]
    keys = keys_at(rows)
    words = pack([runs, *keys])
    if len(words) > 1 and len(keys) == 1:  # else the question would be the same; ranks take fewer bits
        words = pack([runs, dense_ranks(keys, len(rows))])
    within, opens[places] = sort_words(words, len(rows))
    order[places] = rows[within]


def _differs(ordered: np.ndarray) -> np.ndarray:
    """bool[n]: whether a value differs from the one before it."""
    opens = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=opens[1:])
    return opens


def dense_ranks(keys: Sequence[np.ndarray], count: int) -> np.ndarray:
    """int64[count]: 0 for the least, one more for each greater one."""
    order, opens = sort_words(pack(keys), count)
    ranks = np.empty(count, dtype=np.int64)
    ranks[order] = np.cumsum(opens) - 1
    return ranks


def ranks(array: pa.Array, descending: bool = False, nulls_last: bool = False) -> np.ndarray:
    """int64[n]: 0 for the least value, the same for those that tie."""
    return dense_ranks(sort_keys(array, descending, nulls_last), len(array))


def exact_ranks(array: pa.Array, descending: bool = False) -> np.ndarray:
    """int64[n]: the same, but what ties and isn't the same value is told apart, or which of such values a
    function takes would depend on where it was found.
    """
    return dense_ranks([*sort_keys(array, descending), *sort_keys(array, exact=True)], len(array))


def comparable(array: pa.Array) -> np.ndarray:
    """int64[n] that compare as the values do, of an array without NULLs."""
    return order_bits(array) if has_order_bits(array.type) else exact_ranks(array)


def compare(left: pa.Array, right: pa.Array) -> np.ndarray:
    """int8[n]: -1 where the left value is less than the right one, 0 where they tie, 1 where it is greater.

    Both are of one type. NULL is the least value. Only what meets is compared: nothing is sorted but strings.
    """
    if pt.is_struct(left.type):
        fields = zip(child_arrays(left), child_arrays(right), strict=True)
        order = _first_difference([compare(a, b) for a, b in fields], len(left))
    elif pt.is_list(left.type) or pt.is_large_list(left.type):
        order = _compare_lists(left, right)
    else:
        keys = sort_keys(pa.concat_arrays([left, right]))
        halves = ((key[: len(left)], key[len(left) :]) for key in keys)
        return _first_difference([(a > b).astype(np.int8) - (a < b) for a, b in halves], len(left))
    known, other = validity(left), validity(right)
    return np.where(known & other, order, known.astype(np.int8) - other)


def _first_difference(orders: Sequence[np.ndarray], count: int) -> np.ndarray:
    found = np.zeros(count, dtype=np.int8)
    for order in orders:
        found = np.where(found == 0, order, found)
    return found


def _compare_lists(left: pa.Array, right: pa.Array) -> np.ndarray:
    """By the first elements that differ; without any, by length."""
    (start, length, elements), (other_start, other_length, others) = list_ranges(left), list_ranges(right)
    owner, within = expand_lengths(np.minimum(length, other_length))
    mine, theirs = int64_array(start[owner] + within), int64_array(other_start[owner] + within)
    each = compare(elements.take(mine), others.take(theirs))
    order = np.sign(length - other_length).astype(np.int8)
    # written from the last to the first, so that the first difference of each list stays
    differing = np.flatnonzero(each)[::-1]
    order[owner[differing]] = each[differing]
    return np.asarray(order)


def sort_rows(
    rows: pa.RecordBatch | Stacked, groups: np.ndarray, order: Sequence[SortKey]
) -> tuple[np.ndarray, np.ndarray]:
    """(positions int64[n], peers int64[n]): the rows by group, then by the list, then by the whole row.

    peers: ascending, the same number for rows of one group that the list doesn't tell apart.
    What has to be ranked to be compared, as strings have, is ranked only where all before it ties.
    """
    ranked = [i for i, item in enumerate(order) if not has_order_bits(rows.schema.field(item.column).type)]
    cut = ranked[0] if ranked else len(order)
    words = pack([groups, *keys_of(rows, order[:cut])])
    by, opens = sort_words(words, rows.num_rows)
    if cut < len(order):
        _refine(by, opens, partial(_keys_at, rows, order[cut:], False))
    peers = np.cumsum(opens)
    _refine(by, opens, partial(_keys_at, rows, [SortKey(i) for i in range(rows.num_columns)], True))
    return by, peers


def _keys_at(
    rows: pa.RecordBatch | Stacked, order: Sequence[SortKey], exact: bool, positions: np.ndarray
) -> list[np.ndarray]:
    return [
        key
        for item in order
        for key in sort_keys(_at(rows, item.column, positions), item.descending, item.nulls_last, exact)
    ]


def _at(rows: pa.RecordBatch | Stacked, i: int, positions: np.ndarray) -> pa.Array:
    if isinstance(rows, Stacked):
        return rows.at(i, positions)
    return take_values(rows.column(i), positions_of(positions))


def _value_keys(array: pa.Array, exact: bool) -> list[np.ndarray]:
    data_type = array.type
    if has_order_bits(data_type):
        keys = [order_bits(array)]
        if exact and pt.is_floating(data_type):
            values = fixed_values(array)
            keys.append((~(np.signbit(values) & ~np.isnan(values))).astype(np.int64))
        return keys
    if pt.is_decimal128(data_type):
        halves = decimal_words(array)
        return [halves[:, 1], halves[:, 0] ^ np.int64(-(1 << 63))]
    if pt.is_struct(data_type):
        return [key for child in child_arrays(array) for key in sort_keys(child, exact=exact)]
    if pt.is_list(data_type) or pt.is_large_list(data_type) or pt.is_map(data_type):
        return [_list_ranks(array, exact)]
    if pt.is_null(data_type):
        return []
    return [_ranks_of_distinct(array)]


def _ranks_of_distinct(array: pa.Array) -> np.ndarray:
    """Strings and binaries: only different ones are compared."""
    encoded = pc.dictionary_encode(array)
    ranks = np.asarray(pc.rank(encoded.dictionary, sort_keys="ascending", tiebreaker="dense"), np.int64)
    places = fixed_values(encoded.indices.fill_null(0) if array.null_count else encoded.indices)
    return ranks[places] if len(ranks) else np.zeros(len(array), dtype=np.int64)


def _list_ranks(array: pa.Array, exact: bool) -> np.ndarray:
    """Element by element, a list that ends before one that goes on, as bytes of their ranks compare."""
    starts, lengths, elements = list_ranges(array)
    if not len(elements) or not len(array):
        return np.zeros(len(array), dtype=np.int64)
    inner = dense_ranks(sort_keys(elements, exact=exact), len(elements))
    return _ranks_of_distinct(_spelled(inner, starts, lengths))


def _spelled(ranks: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> pa.Array:
    """LARGE BINARY[n]: ranks[start : start + length], each none below 0, as bytes that compare as they do."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    width = next(w for w in (1, 2, 4, 8) if int(ranks.max(initial=0)) < 1 << 8 * w)
    _, positions = expand_ranges(starts, starts + lengths)
    spelled = ranks[positions].astype(f">u{width}")
    buffers = [None, pa.py_buffer(offsets.astype(np.int64) * width), pa.py_buffer(spelled)]
    return pa.Array.from_buffers(pa.large_binary(), len(lengths), buffers)
