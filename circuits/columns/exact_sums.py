"""Exact sums: integers in base 2³², and doubles as integers.

    value = Σⱼ limbⱼ · 2^(32 j)        each limb an int64, so that limbs add up column by column

Limbs are a group under addition, whatever the order of summing, so that SUM and AVG survive retraction
exactly (also of 1e16 + 1 − 1e16) and don't depend on how rows were split into deltas or partitions.
A limb holds the sum of 2³¹ rows before it could overflow.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import decimal_words, from_fixed_values

MASK = np.int64(0xFFFFFFFF)
_BITS = np.int64(32)

# Doubles are integers times 2^-_BIAS; a multiple of 32 beyond the least subnormal's 2^-1126.
_BIAS = 1152
NAN, POSITIVE, NEGATIVE = -1, -2, -3


def split_int64(values: np.ndarray) -> list[np.ndarray]:
    """[low, high]: value = low + high · 2³², 0 <= low < 2³²."""
    return [values & MASK, values >> _BITS]


def split_decimal(array: pa.Array) -> list[np.ndarray]:
    """Four limbs of a decimal128's unscaled value; anything where NULL."""
    halves = decimal_words(array)
    low, high = halves[:, 0], halves[:, 1]
    return [low & MASK, (low >> _BITS) & MASK, high & MASK, high >> _BITS]


def normalize(limbs: np.ndarray) -> np.ndarray:
    """int64[L, n] with every limb but the last in [0, 2³²): the one such form of each value. A copy."""
    limbs = limbs.copy()
    for j in range(len(limbs) - 1):
        limbs[j + 1] += limbs[j] >> _BITS
        limbs[j] &= MASK
    return limbs


def magnitude(limbs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(negative bool[n], |value| as normalised limbs int64[L, n])."""
    limbs = normalize(limbs)
    negative = limbs[-1] < 0
    return negative, normalize(np.where(negative, -limbs, limbs))


def to_int64(limbs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(value int64[n], fits bool[n]) of two limbs."""
    low, high = normalize(limbs)
    return (high << _BITS) | low, (high >= -(1 << 31)) & (high < 1 << 31)


def to_double(limbs: np.ndarray) -> np.ndarray:
    """The nearest double, of two limbs: both products are exact, the sum rounds once."""
    low, high = normalize(limbs)
    return np.asarray(high.astype(np.float64) * 4294967296.0 + low)


def to_decimal(
    limbs: np.ndarray, data_type: pa.Decimal128Type, valid: np.ndarray
) -> tuple[pa.Array, np.ndarray]:
    """(decimal128 array, fits bool[n]): unscaled values, NULL where not valid or not fitting."""
    padded = np.zeros((max(4, len(limbs)) + 1, limbs.shape[1]), dtype=np.int64)
    padded[: len(limbs)] = limbs
    negative, size = magnitude(padded)
    halves = np.empty((limbs.shape[1], 2), dtype=np.int64)
    signed = normalize(np.where(negative, -size, size))
    halves[:, 0] = signed[0] | (signed[1] << _BITS)
    halves[:, 1] = signed[2] | (signed[3] << _BITS)
    fits = _below_power_of_ten(size, data_type.precision)
    return from_fixed_values(halves, data_type, ~(valid & fits)), fits


def _below_power_of_ten(size: np.ndarray, digits: int) -> np.ndarray:
    """bool[n]: magnitude < 10^digits, comparing limbs from the highest."""
    bound = 10**digits
    below = np.zeros(size.shape[1], dtype=np.bool_)
    equal = np.ones(size.shape[1], dtype=np.bool_)
    for j in reversed(range(len(size))):
        limit = np.int64(bound >> (32 * j) & 0xFFFFFFFF)
        below |= equal & (size[j] < limit)
        equal &= size[j] == limit
    return below


def divide_half_up(limbs: np.ndarray, scale: int, divisor: np.ndarray) -> np.ndarray:
    """value · 10^scale / divisor, rounded half away from zero, as limbs. 0 < divisor < 2³¹."""
    negative, size = magnitude(np.concatenate([limbs, np.zeros((2, limbs.shape[1]), np.int64)]))
    for _ in range(scale):
        size = normalize(size * 10)
    quotient = np.empty_like(size)
    remainder = np.zeros(size.shape[1], dtype=np.int64)
    for j in reversed(range(len(size))):
        remainder = (remainder << _BITS) | size[j]
        quotient[j] = remainder // divisor
        remainder %= divisor
    quotient[0] += remainder * 2 >= divisor
    return normalize(np.where(negative, -quotient, quotient))


def split_doubles(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(position into values, limb index, limb): each finite double as up to three limbs.

    NaN and ±∞ are limbs of value 1 at the indices NAN, POSITIVE, NEGATIVE. Zeros have no limbs.
    """
    finite = np.isfinite(values)
    fraction, exponent = np.frexp(np.where(finite, values, 0.0))
    mantissa = (fraction * 9007199254740992.0).astype(np.int64)
    sign = np.where(mantissa < 0, np.int64(-1), np.int64(1))
    size = np.abs(mantissa).astype(np.uint64)
    place = exponent.astype(np.int64) - 53 + _BIAS
    index, shift = place // 32, (place % 32).astype(np.uint64)
    mask, bits = np.uint64(0xFFFFFFFF), np.uint64(32)
    low, high = (size & mask) << shift, (size >> bits) << shift
    parts = (low & mask, (low >> bits) + (high & mask), high >> bits)
    at = np.arange(len(values))
    special = np.flatnonzero(~finite)
    kinds = np.where(
        np.isnan(values[special]), NAN, np.where(values[special] > 0, POSITIVE, NEGATIVE)
    ).astype(np.int64)
    kept = [np.flatnonzero(part) for part in parts]
    return (
        np.concatenate([*(at[k] for k in kept), special]),
        np.concatenate([*(index[k] + j for j, k in enumerate(kept)), kinds]),
        np.concatenate(
            [
                *(parts[j][k].astype(np.int64) * sign[k] for j, k in enumerate(kept)),
                np.ones(len(special), np.int64),
            ]
        ),
    )


def join_doubles(owner: np.ndarray, index: np.ndarray, limb: np.ndarray, count: int) -> np.ndarray:
    """float64[count]: for each owner the nearest double of its limbs' exact sum (0.0 without limbs)."""
    specials, (owner, index, limb) = _specials(owner, index, limb, count)
    sums = np.zeros(count) if not len(index) else dense_sums(owner, index, limb, count)
    return _with_specials(sums, specials)


def sum_ranges(
    values: np.ndarray, start: np.ndarray, stop: np.ndarray, added: Mapping[int, np.ndarray] | None = None
) -> np.ndarray:
    """float64[m]: for each range the nearest double of the exact sum of values[start:stop].

    added: further limbs of each range, int64[m], by their index. Cost: O(n + m) for each limb that the values
    span.
    """
    count, added = len(values) + 1, added or {}
    at, index, limb = split_doubles(values)
    specials, (owner, index, limb) = _specials(at + 1, index, limb, count)
    specials = np.cumsum(specials, axis=1)
    specials = specials[:, stop] - specials[:, start]
    further = [number for number in added if number >= 0]
    for number in added.keys() - further:
        specials[-1 - number] += added[number]
    nothing = np.zeros(len(further), np.int64)
    owner, index, limb = (
        np.concatenate(both)
        for both in ((owner, nothing), (index, np.array(further, np.int64)), (limb, nothing))
    )
    sums = np.zeros(len(start))
    if len(index):
        dense, lowest = _dense(owner, index, limb, count)
        np.cumsum(dense, axis=1, out=dense)
        limbs = dense[:, stop] - dense[:, start]
        for number in further:
            limbs[number - lowest] += added[number]
        sums = _rounded(limbs, lowest, _BIAS)
    return _with_specials(sums, specials)


def dense_sums(
    owner: np.ndarray, index: np.ndarray, limb: np.ndarray, count: int, bias: int = _BIAS
) -> np.ndarray:
    """float64[count]: for each owner the nearest double of Σ limb · 2^(32 index − bias)."""
    return _rounded(*_dense(owner, index, limb, count), bias)


def _specials(
    owner: np.ndarray, index: np.ndarray, limb: np.ndarray, count: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(how many NaN, ∞ and −∞ each owner has, int64[3, count]; the other limbs)."""
    specials = np.zeros((3, count), dtype=np.int64)
    is_special = index < 0
    np.add.at(specials, (-1 - index[is_special], owner[is_special]), limb[is_special])
    return specials, (owner[~is_special], index[~is_special], limb[~is_special])


def _with_specials(sums: np.ndarray, specials: np.ndarray) -> np.ndarray:
    nan, positive, negative = specials > 0
    sums = np.where(positive, np.inf, np.where(negative, -np.inf, sums))
    return np.where(nan | (positive & negative), np.nan, sums)


def _dense(owner: np.ndarray, index: np.ndarray, limb: np.ndarray, count: int) -> tuple[np.ndarray, int]:
    """(limbs int64[L, count], the index of the lowest) of each owner; there is at least one limb."""
    lowest = int(index.min()) - 3  # room below, so that the top three limbs always exist
    dense = np.zeros((int(index.max()) - lowest + 3, count), dtype=np.int64)
    np.add.at(dense, (index - lowest, owner), limb)
    return dense, lowest


def _rounded(dense: np.ndarray, lowest: int, bias: int) -> np.ndarray:
    """float64[n]: the nearest doubles of limbs as `_dense` has them."""
    width, count = dense.shape
    negative, size = magnitude(dense)
    words = size.astype(np.uint64)
    top = width - 1 - np.argmax(words[::-1] != 0, axis=0)
    top = np.where((words != 0).any(axis=0), top, 2)
    columns = np.arange(count)
    first, second, third = (words[top - j, columns] for j in range(3))
    below = np.cumsum(words != 0, axis=0)
    sticky = np.where(top > 2, below[top - 3, columns], 0) > 0
    # 64 significant bits, the last one sticky: the conversion to double then rounds correctly
    lead = np.uint64(32) - np.ceil(np.log2(first.astype(np.float64) + 1)).astype(np.uint64)
    word = (first << (lead + np.uint64(32))) | (second << lead) | (third >> (np.uint64(32) - lead))
    lost = (third << lead) & np.uint64(0xFFFFFFFF)
    word |= (sticky | (lost != 0)).astype(np.uint64)
    exponent = (top + lowest - 1) * 32 - lead.astype(np.int64) - bias
    with np.errstate(over="ignore"):
        sums = np.ldexp(word.astype(np.float64), exponent)
    return np.asarray(np.where(negative, -sums, sums))
