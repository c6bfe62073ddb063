"""Values of a column as those of Avro's types without parts: what `simple` reads back as they were."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values
from dbsp.circuits.errors import DataError
from dbsp.rows.avro.schema import Enum, Simple
from dbsp.rows.avro.writing.bytes import Piece, counted, fixed, varints
from dbsp.rows.avro.writing.decimals import big_endian, shortest
from dbsp.rows.casting import Refused, cast_array, kind

_WIDE = pa.large_binary()
_INT = 1 << 31


def why_not(node: Simple | Enum, type_: pa.DataType) -> str | None:
    """Why no column of that type is written so; None: it is, value by value."""
    given = kind(type_)
    if isinstance(node, Enum):
        taken = given == "string"
    elif node.logical == "decimal":
        taken = given == "decimal"
    elif node.kind in ("int", "long"):
        taken = given == "integer" or (given == "date" and node.logical == "date")
        wanted = "timestamp-" if given == "timestamp" and type_.tz is not None else "local-timestamp-"
        taken = taken or (given == "timestamp" and node.logical.startswith(wanted))
        taken = taken or (given == "time" and node.logical.startswith("time-"))
    elif node.kind in ("float", "double"):
        taken = type_ == pa.float32() or (type_ == pa.float64() and node.kind == "double")
    elif node.kind == "string":
        taken = given == "string"
    else:
        taken = given == {"bytes": "binary", "fixed": "binary", "boolean": "boolean"}.get(node.kind)
    if taken:
        return None
    shown = "an enum" if isinstance(node, Enum) else node.logical or node.kind
    return f"is {type_}, and its field in the Avro schema {shown}"


def pieces_of(node: Simple | Enum, values: pa.Array, where: str) -> list[Piece]:
    """values: of a type that is taken, none NULL. Raises DataError for one that the type can't hold."""
    if isinstance(node, Enum):
        places = pc.index_in(values, pa.array(node.symbols, pa.string()))
        _check(values, np.asarray(places.is_valid()), where, "no symbol of the Avro schema's enum")
        return [varints(np.asarray(places, dtype=np.int64))]
    if node.logical == "decimal":
        return _decimals(node, values, where)
    if node.kind == "boolean":
        return [fixed(np.asarray(fixed_values(values)).astype(np.uint8)[:, None])]
    if node.kind in ("int", "long"):
        return [varints(_numbers(node, values, where))]
    if node.kind in ("float", "double"):
        width, dtype = (4, "<f4") if node.kind == "float" else (8, "<f8")
        return [fixed(fixed_values(values).astype(dtype).view(np.uint8).reshape(-1, width))]
    if node.kind == "fixed":
        fits = np.asarray(pc.equal(pc.binary_length(values), node.size))
        _check(values, fits, where, f"not of the {node.size} bytes that the Avro schema says")
        return [values.cast(_WIDE)]
    return counted(values.cast(pa.binary()))


def _numbers(node: Simple, values: pa.Array, where: str) -> np.ndarray:
    numbers = fixed_values(values).astype(np.int64)
    if pt.is_time(values.type):
        numbers = numbers // 1000  # which are of microseconds
    if pt.is_timestamp(values.type) or pt.is_time(values.type):
        unit = node.logical.rpartition("-")[2]
        if unit == "millis":
            _check(values, numbers % 1000 == 0, where, f"finer than the Avro schema's {node.logical}")
            numbers = numbers // 1000
        elif unit == "nanos":
            fits = np.abs(numbers // 1000) <= 2**63 // 1_000_000
            _check(values, fits, where, f"beyond the Avro schema's {node.logical}")
            numbers = numbers * 1000
    if node.kind == "int":
        _check(values, (numbers >= -_INT) & (numbers < _INT), where, "beyond the Avro schema's int")
    return numbers


def _decimals(node: Simple, values: pa.Array, where: str) -> list[Piece]:
    try:
        whole = cast_array(values, pa.decimal128(node.precision, node.scale))
    except Refused as refused:
        raise DataError(f"column '{where}' doesn't fit the Avro schema: {refused}") from None
    if node.kind == "bytes":
        return counted(shortest(whole))
    if node.size >= 16:
        high = big_endian(whole)
        sign = np.where(high[:, :1] >= 0x80, 0xFF, 0).astype(np.uint8)
        return [fixed(np.concatenate([np.repeat(sign, node.size - 16, axis=1), high], axis=1))]
    needed = np.asarray(pc.binary_length(shortest(whole)))
    _check(values, needed <= node.size, where, f"longer than the Avro schema's {node.size} bytes")
    return [fixed(big_endian(whole)[:, 16 - node.size :])]


def _check(values: pa.Array, fits: np.ndarray, where: str, why: str) -> None:
    if not fits.all():
        raise DataError(f"column '{where}' has {values[int(np.argmin(fits))].as_py()!r}, {why}")
