"""Distances of vectors: VECTOR_NORM, VECTOR_L2_DISTANCE and their kin.

Vectors are arrays of FLOAT. A sum takes eight terms at a time, as Spark does, or its last bits would differ;
term k of all rows is one vectorised round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, require
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.collections.lists import Lists, list_array, lists_of

_AT_ONCE = 8


def _sums(terms: Numbers, lists: Lists) -> Numbers:
    """The sum of each row's terms (double[m])."""
    total = np.zeros(len(lists.lengths))
    blocks = lists.lengths // _AT_ONCE
    for block in range(int(blocks.max(initial=0))):
        rows = np.flatnonzero(blocks > block)
        at = lists.starts[rows] + block * _AT_ONCE
        together = terms[at]
        for place in range(1, _AT_ONCE):
            together = together + terms[at + place]
        total[rows] += together
    for place in range(_AT_ONCE - 1):
        rows = np.flatnonzero(lists.lengths - blocks * _AT_ONCE > place)
        total[rows] += terms[lists.starts[rows] + blocks[rows] * _AT_ONCE + place]
    return total


def _values(lists: Lists) -> Numbers:
    return np.where(validity(lists.elements), fixed_values(lists.elements), 0).astype(np.float64)


def _whole(lists: Lists) -> Mask:
    """Rows that aren't NULL and hold no NULL."""
    missing = ~validity(lists.elements)
    whole: Mask = lists.valid & (np.bincount(lists.owner[missing], minlength=len(lists.lengths)) == 0)
    return whole


def _floats(values: Numbers, good: Mask) -> pa.Array:
    with np.errstate(over="ignore"):
        return pa.array(np.where(good, values, 0).astype(np.float32), mask=~good)


Finish = Callable[[Numbers, Numbers, Lists], tuple[Numbers, Mask | None]]


def _register_pair(name: str, finish: Finish) -> None:
    """finish: (left elements, right elements, lists) → the results, and where they exist."""

    @columnar(f"static_invoke.VectorFunctionImplUtils.{name}")
    def run(call: Call, left: pa.Array, right: pa.Array, function: pa.Array) -> Value:
        a, b = lists_of(left), lists_of(right)
        both = a.valid & b.valid
        require(
            ~both | (a.lengths == b.lengths),
            "VECTOR_DIMENSION_MISMATCH",
            lambda row: f"vectors of {a.lengths[row]} and {b.lengths[row]} dimensions.",
        )
        a, b = _where(a, both), _where(b, both)
        with np.errstate(all="ignore"):
            values, exists = finish(_values(a), _values(b), a)
        good = _whole(a) & _whole(b)
        return _floats(values, good if exists is None else good & exists)


def _where(lists: Lists, kept: Mask) -> Lists:
    """The rows that aren't kept are NULL."""
    chosen = lists.chosen(kept[lists.owner])
    return Lists(chosen.elements, chosen.lengths, lists.valid & kept)


def _cosine(a: Numbers, b: Numbers, lists: Lists) -> tuple[Numbers, Mask | None]:
    size = np.sqrt(_sums(a * a, lists) * _sums(b * b, lists))
    return _sums(a * b, lists) / np.where(size == 0, 1, size), np.asarray(size != 0)


_register_pair("vectorCosineSimilarity", _cosine)
_register_pair("vectorInnerProduct", lambda a, b, lists: (_sums(a * b, lists), None))
_register_pair("vectorL2Distance", lambda a, b, lists: (np.sqrt(_sums((a - b) * (a - b), lists)), None))


def _norms(lists: Lists, degree: pa.Array) -> Numbers:
    values, by = _values(lists), fixed_values(degree)
    good = ~lists.valid | ~validity(degree) | (by == 1) | (by == 2) | (by == np.inf)
    require(good, "INVALID_VECTOR_NORM_DEGREE", lambda row: f"the degree is 1, 2 or infinity, not {by[row]}.")
    most = np.zeros(len(lists.lengths))
    with np.errstate(all="ignore"):
        np.maximum.at(most, lists.owner, np.abs(values))
        squares = np.sqrt(_sums(values * values, lists))
        return np.where(by == 1, _sums(np.abs(values), lists), np.where(by == 2, squares, most))


@columnar("static_invoke.VectorFunctionImplUtils.vectorNorm")
def vector_norm(call: Call, vector: pa.Array, degree: pa.Array, function: pa.Array) -> Value:
    lists = lists_of(vector)
    return _floats(_norms(lists, degree), _whole(lists) & validity(degree))


@columnar("static_invoke.VectorFunctionImplUtils.vectorNormalize")
def vector_normalize(call: Call, vector: pa.Array, degree: pa.Array, function: pa.Array) -> Value:
    """NULL where the norm is 0, but for the empty vector."""
    lists = lists_of(vector)
    norms = _norms(lists, degree)
    good = _whole(lists) & validity(degree) & ((norms != 0) | (lists.lengths == 0))
    kept = _where(lists, good)
    with np.errstate(all="ignore"):
        scaled = (_values(kept) / norms[kept.owner]).astype(np.float32)
    return list_array(call.type, Lists(pa.array(scaled), kept.lengths, good))
