"""Making columns narrow.

Cost: three passes over numbers; of text a hash of each value, after a look at a few of them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import decimal_words, fixed_values, positions_of, take_values, validity
from dbsp.circuits.columns.narrow.column import DECIMAL, Narrow

# of the values that tell whether text repeats
_SAMPLE = 1024
_REPEATS, _SMALLER = 0.95, 0.75
_WHOLE = {pa.int64().id, pa.int32().id, pa.int16().id, pa.date32().id, pa.date64().id, DECIMAL}
_WHOLE |= {pa.timestamp("us").id, pa.duration("us").id, pa.time64("us").id, pa.time32("s").id}
_TEXT = {pa.string().id, pa.binary().id}
INT64 = 1 << 63


def narrowed(column: pa.Array) -> pa.Array | Narrow:
    """The column in fewer bytes; or as it is, where that takes no more."""
    kind = column.type.id
    if not len(column):
        return column
    if kind in _WHOLE:
        return _numbers(column)
    return _texts(column) if kind in _TEXT else column


def _numbers(column: pa.Array) -> pa.Array | Narrow:
    if column.null_count == len(column):
        return Narrow(column.type, pa.nulls(len(column)), None)
    values, valid = fixed_values(column), validity(column) if column.null_count else None
    if column.type.id == DECIMAL:
        words = decimal_words(column)
        values = words[:, 0]
        beyond = words[:, 1] != values >> 63
        if (beyond if valid is None else beyond & valid).any():
            return column
    base, span = _range(values, valid)
    if span >= INT64:
        return column
    if valid is not None:
        values = np.where(valid, values, base)  # what lies under a NULL is anything
    codes, unit = _in_units((values.astype(np.int64) - base).view(np.uint64), span)
    return _packed(column.type, codes, valid, span // unit, base, unit) or column


def _fewer_numbers(column: Narrow) -> pa.Array | Narrow:
    if not column.is_coded:
        return column
    if column.base is None or column.codes.null_count == len(column):
        return Narrow(column.type, pa.nulls(len(column)), None)
    codes, valid = fixed_values(column.codes), validity(column.codes) if column.codes.null_count else None
    least, span = _range(codes, valid)
    if least:
        codes = codes - codes.dtype.type(least)
    base = column.base + column.unit * least
    return _packed(column.type, codes, valid, span, base, column.unit) or column.values()


def _range(values: np.ndarray, valid: np.ndarray | None) -> tuple[int, int]:
    """(the least, how much greater the greatest is) of those that are valid, one or more."""
    there = values if valid is None else values[valid]
    least = int(there.min())
    return least, int(there.max()) - least


def _packed(
    data_type: pa.DataType, codes: np.ndarray, valid: np.ndarray | None, span: int, base: int, unit: int
) -> Narrow | None:
    """Of codes up to `span`; None: they take as many bytes as the values."""
    if not span and valid is None:
        return Narrow(data_type, pa.nulls(len(codes)), base)
    width = _width(span)
    if width >= data_type.bit_width:
        return None
    mask = None if valid is None else ~valid
    return Narrow(data_type, pa.array(codes.astype(f"uint{width}"), mask=mask), base, unit)


def _width(span: int) -> int:
    """Bits of a code up to `span`."""
    return next((width for width in (8, 16, 32) if span < 1 << width), 64)


def _in_units(offsets: np.ndarray, span: int) -> tuple[np.ndarray, int]:
    """(uint64[n] offsets up to `span`, by a unit that divides all of them, the unit): if it saves bytes."""
    if span >= 1 << 8:
        # neighbours, too: what is a number of steps apart has a greater divisor
        few = np.concatenate([offsets[:32], offsets[:: max(1, len(offsets) // 32)]])
        unit = int(np.gcd.reduce(few)) or int(np.gcd.reduce(offsets))
        if _width(span // unit) < _width(span):
            codes = offsets // np.uint64(unit)
            if (codes * np.uint64(unit) == offsets).all():
                return codes, unit
    return offsets, 1


def _texts(column: pa.Array) -> pa.Array | Narrow:
    step = max(1, len(column) // _SAMPLE)
    few = take_values(column, positions_of(np.arange(0, len(column), step))) if step > 1 else column
    if len(pc.unique(few)) > _REPEATS * len(few):
        return column
    coded = column.dictionary_encode()
    codes = _fewest(coded.indices, len(coded.dictionary))
    if codes.nbytes + coded.dictionary.nbytes > _SMALLER * column.nbytes:
        return column
    return Narrow(column.type, codes, dictionary=coded.dictionary)


def _fewest(indices: pa.Array, count: int) -> pa.Array:
    """Indices below `count`, in as few bytes as hold them."""
    width = next(width for width in (8, 16, 32) if count <= 1 << (width - 1))
    return indices.cast(f"int{width}")


def fewer(column: Narrow) -> pa.Array | Narrow:
    """One that was `joined`, of which rows were left out, in as few bytes as it needs."""
    if column.dictionary is None:
        return _fewer_numbers(column)
    codes = fixed_values(column.codes)
    valid = validity(column.codes) if column.codes.null_count else None
    used = np.bincount(codes if valid is None else codes[valid], minlength=len(column.dictionary)) > 0
    (there,) = used.nonzero()
    if not len(there):
        return Narrow(column.type, pa.nulls(len(codes), pa.int8()), dictionary=column.dictionary.slice(0, 0))
    if 2 * len(there) > len(codes):
        return _texts(column.values())
    places = (np.cumsum(used) - 1).astype(np.int32)
    codes = places[codes if valid is None else np.where(valid, codes, 0)]
    indices = pa.array(codes, mask=None if valid is None else ~valid)
    dictionary = take_values(column.dictionary, positions_of(there))
    return Narrow(column.type, _fewest(indices, len(there)), dictionary=dictionary)
