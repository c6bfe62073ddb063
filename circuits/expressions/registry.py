"""The functions expressions may call: one entry per function, found by name.

A name is the Catalyst class in snake_case (`StringSplitSQL` → `string_split_sql`), so that the front end
needs no table of its own. An entry is either a *kernel*, over evaluated arguments, or a *form*, which
decides itself which arguments are evaluated on which rows (CASE, AND, COALESCE ...).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TypeAlias

import pyarrow as pa

from circuits.expressions.nodes import Call, Expression

Value: TypeAlias = pa.Array | pa.Scalar
Kernel: TypeAlias = Callable[..., Value]
Evaluate: TypeAlias = Callable[[Expression, pa.RecordBatch], Value]

MODULES = (
    "arithmetic",
    "array_order",
    "array_sets",
    "array_sort",
    "arrays",
    "bits",
    "casts",
    "comparison",
    "conditional",
    "date_arithmetic",
    "date_format",
    "date_parse",
    "date_parts",
    "date_truncation",
    "date_units",
    "dates",
    "failing",
    "format_string",
    "interval_arithmetic",
    "json_paths",
    "json_shape",
    "json_texts",
    "json_values",
    "lambdas",
    "logic",
    "maps",
    "masks",
    "math",
    "number_format",
    "patterns",
    "python_functions",
    "rounding",
    "sequences",
    "similarity",
    "spark_hashes",
    "spans",
    "strings",
    "structures",
    "substrings",
    "text_encoding",
    "urls",
    "utf8_validity",
    "zone_shifts",
)


@dataclass(frozen=True, slots=True)
class Function:
    """run: kernel `(call, *arguments)` or form `(call, rows, evaluate)`.

    refuse: what of this call isn't covered, as a phrase for the compile error, or None.
    """

    name: str
    run: Kernel
    is_form: bool
    refuse: Callable[[Call], str | None]


_FUNCTIONS: dict[str, Function] = {}


def _accept(call: Call) -> str | None:
    return None


def kernel(name: str, refuse: Callable[[Call], str | None] = _accept) -> Callable[[Kernel], Kernel]:
    """Register `run(call, *arguments)`: arguments are arrays, or scalars where the argument is constant."""

    def register(run: Kernel) -> Kernel:
        assert name not in _FUNCTIONS, name
        _FUNCTIONS[name] = Function(name, run, is_form=False, refuse=refuse)
        return run

    return register


def form(name: str, refuse: Callable[[Call], str | None] = _accept) -> Callable[[Kernel], Kernel]:
    """Register `run(call, rows, evaluate)`, which evaluates its own arguments."""

    def register(run: Kernel) -> Kernel:
        assert name not in _FUNCTIONS, name
        _FUNCTIONS[name] = Function(name, run, is_form=True, refuse=refuse)
        return run

    return register


def find(name: str) -> Function | None:
    """The function of that name, or None. Kernels are imported at the first call."""
    _import_kernels()
    return _FUNCTIONS.get(name)


@cache
def _import_kernels() -> None:
    """All of them, also when some were imported before by their own name."""
    for module in MODULES:
        import_module(f"circuits.expressions.{module}")


def names() -> list[str]:
    """All registered names, sorted."""
    find("")
    return sorted(_FUNCTIONS)


def snake_case(catalyst_class: str) -> str:
    """`StringSplitSQL` → `string_split_sql`, `EqualTo` → `equal_to`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", catalyst_class).lower()
