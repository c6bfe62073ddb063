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

from dbsp.circuits.expressions.nodes import Call, Expression

Value: TypeAlias = pa.Array | pa.Scalar
Kernel: TypeAlias = Callable[..., Value]
Evaluate: TypeAlias = Callable[[Expression, pa.RecordBatch], Value]

MODULES = (
    "casts.cast",
    "collections.array_order",
    "collections.array_sets",
    "collections.array_sort",
    "collections.arrays",
    "collections.lambdas",
    "collections.maps",
    "collections.sequences",
    "collections.structures",
    "json.from_json",
    "json.paths",
    "json.shape",
    "json.to_json",
    "logic.comparison",
    "logic.conditional",
    "logic.failing",
    "logic.logic",
    "logic.spans",
    "numbers.arithmetic",
    "numbers.bits",
    "numbers.format_string",
    "numbers.math",
    "numbers.number_format",
    "numbers.rounding",
    "python.calls",
    "texts.encodings",
    "texts.masks",
    "texts.patterns",
    "texts.similarity",
    "texts.spark_hashes",
    "texts.strings",
    "texts.substrings",
    "texts.urls",
    "texts.utf8_validity",
    "times.date_arithmetic",
    "times.date_format",
    "times.date_parse",
    "times.date_parts",
    "times.date_truncation",
    "times.date_units",
    "times.dates",
    "times.interval_arithmetic",
    "times.zone_shifts",
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
        import_module(f"dbsp.circuits.functions.{module}")


def names() -> list[str]:
    """All registered names, sorted."""
    find("")
    return sorted(_FUNCTIONS)


def snake_case(catalyst_class: str) -> str:
    """`StringSplitSQL` → `string_split_sql`, `EqualTo` → `equal_to`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", catalyst_class).lower()
