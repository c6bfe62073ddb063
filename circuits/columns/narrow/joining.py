"""Narrow columns one after the other, by their codes: of no number or text a value is made."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.narrow.column import Narrow
from dbsp.circuits.columns.narrow.packing import INT64, narrowed

# plain text is coded for being joined where it is at most one of so many values, or all of it would be more
# than so many bytes: Arrow has no more than 2 GiB of text in a column
_FEW_PLAIN = 4
_PLAIN_BYTES = 1 << 28


def joined(parts: Sequence[pa.Array | Narrow]) -> pa.Array | Narrow:
    """One column after the other, of one type. Its codes are equal, or NULL, where its values are."""
    if any(isinstance(part, Narrow) for part in parts):
        texts = pt.is_string(parts[0].type) or pt.is_binary(parts[0].type)
        found = _joined_texts(parts) if texts else _joined_numbers(parts)
        if found is not None:
            return found
    return pa.concat_arrays([part.values() if isinstance(part, Narrow) else part for part in parts])


def _joined_texts(parts: Sequence[pa.Array | Narrow]) -> Narrow | None:
    plain = sum(len(part) for part in parts if not isinstance(part, Narrow))
    if _FEW_PLAIN * plain > sum(map(len, parts)) and sum(map(_plain_bytes, parts)) <= _PLAIN_BYTES:
        return None
    coded = [
        pa.DictionaryArray.from_arrays(part.codes.cast(pa.int32()), part.dictionary)
        if isinstance(part, Narrow)
        else part.dictionary_encode()
        for part in parts
    ]
    unified = pa.chunked_array(coded).unify_dictionaries().chunks
    codes = pa.concat_arrays([part.indices for part in unified])
    return Narrow(parts[0].type, codes, dictionary=unified[0].dictionary)


def _plain_bytes(part: pa.Array | Narrow) -> int:
    return int(part.text_bytes().sum()) if isinstance(part, Narrow) else int(part.nbytes)


def _joined_numbers(parts: Sequence[pa.Array | Narrow]) -> Narrow | None:
    narrow_ = [part if isinstance(part, Narrow) else narrowed(part) for part in parts if len(part)]
    there = [part for part in narrow_ if isinstance(part, Narrow)]
    if len(there) < len(narrow_):
        return None
    some = [part for part in there if part.base is not None]
    bases = [part.base for part in some if part.base is not None]
    base = min(bases, default=0)
    unit = gcd(*(part.unit for part in there if part.is_coded), *(each - base for each in bases)) or 1
    span = max((part.greatest for part in some), default=base) - base
    if span >= INT64 or span // unit >= 1 << 32:  # no number of 64 bits, or of 32
        return None
    codes = pa.concat_arrays([part.rebased(base, unit) for part in there])
    return Narrow(parts[0].type, codes, base, unit)
