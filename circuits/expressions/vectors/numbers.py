"""Arrow values as NumPy vectors and back.

A `Vector` is what arithmetic needs of a fixed-width argument: its numbers, without copying, and which of
them are not NULL. A constant argument is a vector of length one, which NumPy broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import from_fixed_values, from_unscaled
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel

Numbers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_STORED_AS = {
    pa.bool_(): pa.uint8(),
    pa.date32(): pa.int32(),
}


@dataclass(frozen=True, slots=True)
class Vector:
    """values: one number per row, anything where NULL. valid: False where NULL; None when nothing is."""

    values: Numbers
    valid: Mask | None
    is_constant: bool


def vector(value: Value) -> Vector:
    """The numbers of a fixed-width array or scalar: dates are days, timestamps and durations microseconds."""
    is_constant = isinstance(value, pa.Scalar)
    array = pa.repeat(value, 1) if is_constant else value
    stored = _STORED_AS.get(array.type)
    if stored is None and (pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type)):
        stored = pa.int64()
    if stored is not None:
        array = array.cast(stored) if pa.types.is_boolean(array.type) else array.view(stored)
    valid = None
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        array = pc.fill_null(array, 0)
    return Vector(array.to_numpy(zero_copy_only=False), valid, is_constant)


def both(*masks: Mask | None) -> Mask | None:
    """The conjunction of masks, where None is all True."""
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    together = present[0]
    for mask in present[1:]:
        together = together & mask
    return together


def result(call: Call, values: Numbers, *inputs: Vector, valid: Mask | None = None) -> Value:
    """`values` as an Arrow value of `call.type`, NULL where an input is NULL or `valid` is False."""
    mask = both(valid, *(each.valid for each in inputs))
    rows = max((len(each.values) for each in inputs), default=len(values))
    if len(values) != rows:
        values = np.broadcast_to(values, (rows,))
    if mask is not None:
        mask = ~np.broadcast_to(mask, (rows,))
    array = from_numbers(values, call.type, mask)
    return array[0] if all(each.is_constant for each in inputs) and rows == 1 else array


def from_numbers(values: Numbers, type: pa.DataType, null: Mask | None = None) -> pa.Array:
    """An Arrow array of a fixed-width type from its stored numbers (of a DECIMAL: the unscaled ones)."""
    if pa.types.is_date32(type):
        return from_fixed_values(values.astype(np.int32, copy=False), type, null)
    if pa.types.is_timestamp(type) or pa.types.is_duration(type):
        return from_fixed_values(values.astype(np.int64, copy=False), type, null)
    if pa.types.is_boolean(type):
        return pa.array(values.astype(np.bool_, copy=False), type, mask=null)
    if pa.types.is_decimal(type):
        return from_unscaled(values, type, null)
    return from_fixed_values(values.astype(type.to_pandas_dtype(), copy=False), type, null)


def unscaled(value: Value, scale: int) -> Vector:
    """A DECIMAL of at most `scale` places as its number of units of 10^−scale, in 64 bits.

    Raises EvaluationError [ARITHMETIC_OVERFLOW] where that isn't a BIGINT.
    """
    is_constant = isinstance(value, pa.Scalar)
    array = pa.repeat(value, 1) if is_constant else value
    try:
        words = np.frombuffer(array.cast(pa.decimal128(38, scale)).buffers()[1] or b"", np.int64).reshape(
            -1, 2
        )
    except pa.ArrowInvalid as error:
        raise EvaluationError("ARITHMETIC_OVERFLOW", f"a decimal isn't a multiple of 1e-{scale}") from error
    words = words[array.offset : array.offset + len(array)] if len(words) > len(array) else words
    valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    numbers = Vector(words[:, 0], valid, is_constant)
    fits = words[:, 1] == words[:, 0] >> 63
    require(fits, "ARITHMETIC_OVERFLOW", lambda row: f"{array[row].as_py()} is out of range", numbers)
    return numbers


def require(
    good: Mask, condition: str, message: Callable[[int], str], *inputs: Vector, valid: Mask | None = None
) -> None:
    """Raise EvaluationError for the first row, NULL in no input, that isn't `good`."""
    if good.all():
        return
    mask = both(valid, *(each.valid for each in inputs))
    bad = ~good if mask is None else ~good & mask
    if bad.any():
        row = int(np.argmax(bad))
        raise EvaluationError(condition, message(row), row)


def per_distinct(run: Callable[..., Any], type: pa.DataType, *arguments: Value) -> Value:
    """`run` of each distinct tuple of non-NULL arguments, NULL where one is NULL.

    For functions of which no vectorised form exists: the interpreter sees each combination of values once.
    An EvaluationError of `run` gets the first row that has the combination.
    """
    if all(isinstance(argument, pa.Scalar) for argument in arguments):
        constants = [argument.as_py() for argument in arguments]
        value = None if None in constants else run(*constants)
        return pa.scalar(value, type)
    rows = next(len(argument) for argument in arguments if not isinstance(argument, pa.Scalar))
    code = np.zeros(rows, np.int64)
    valid = np.ones(rows, np.bool_)
    domains: list[list[Any]] = []
    for argument in arguments:
        if isinstance(argument, pa.Scalar):
            domains.append([argument.as_py()])
            if not argument.is_valid:
                valid[:] = False
            continue
        encoded = argument.dictionary_encode()
        if encoded.null_count:
            valid &= encoded.is_valid().to_numpy(zero_copy_only=False)
        indices = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
        code = code * max(len(encoded.dictionary), 1) + indices
        domains.append(encoded.dictionary.to_pylist() or [None])
    if not valid.any():
        return pa.nulls(rows, type)
    present, first, inverse = np.unique(code[valid], return_index=True, return_inverse=True)
    chosen: list[list[Any]] = []
    rest = present
    for argument, domain in zip(reversed(arguments), reversed(domains), strict=True):
        if isinstance(argument, pa.Scalar):
            chosen.append(domain * len(present))
        else:
            rest, position = np.divmod(rest, len(domain))
            chosen.append([domain[at] for at in position.tolist()])
    values = []
    for at, combination in enumerate(zip(*reversed(chosen), strict=True)):
        try:
            values.append(run(*combination))
        except EvaluationError as error:
            error.row = int(np.flatnonzero(valid)[first[at]])
            raise
    indices = np.zeros(rows, np.int64)
    indices[valid] = inverse
    return pa.array(values, type).take(pa.array(indices, mask=~valid))


def strict(
    name: str, subject: int = 0, refuse: Callable[[Call], str | None] | None = None
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register a kernel that is NULL where an argument is; its argument `subject` is always an array."""

    def register(run: Callable[..., Value]) -> Callable[..., Value]:
        def whole(call: Call, *arguments: Value) -> Value:
            if any(isinstance(each, pa.Scalar) and not each.is_valid for each in arguments):
                return pa.scalar(None, call.type)
            if not isinstance(arguments[subject], pa.Scalar):
                return run(call, *arguments)
            rows = next((len(each) for each in arguments if not isinstance(each, pa.Scalar)), None)
            spread = list(arguments)
            spread[subject] = pa.repeat(arguments[subject], 1 if rows is None else rows)
            value = run(call, *spread)
            return value[0] if rows is None and not isinstance(value, pa.Scalar) else value

        if refuse is None:
            kernel(name)(whole)
        else:
            kernel(name, refuse=refuse)(whole)
        return run

    return register


def are_constant(*arguments: Value) -> bool:
    return all(isinstance(each, pa.Scalar) for each in arguments)
