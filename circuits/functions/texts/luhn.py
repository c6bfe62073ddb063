"""LUHN_CHECK."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.columns.ranges import expand_lengths
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import strict
from dbsp.circuits.expressions.vectors.utf8 import bytes_of


@strict("static_invoke.ExpressionImplUtils.isLuhnNumber")
def luhn_check(call: Call, text: pa.Array) -> Value:
    """Whether it is digits whose sum, every second one from the right doubled, is a multiple of 10."""
    data, offsets = bytes_of(text)
    lengths = np.diff(offsets)
    owner, within = expand_lengths(lengths)
    from_right = lengths[owner] - 1 - within
    digits = data.astype(np.int64) - ord("0")
    is_digit = (digits >= 0) & (digits <= 9)
    doubled = np.where(from_right % 2 == 1, digits * 2 - 9 * (digits > 4), digits)
    sums = np.bincount(owner, weights=np.where(is_digit, doubled, 0), minlength=len(lengths))
    others = np.bincount(owner[~is_digit], minlength=len(lengths))
    good = (lengths > 0) & (others == 0) & (sums % 10 == 0)
    return pa.array(good, mask=~validity(text))
