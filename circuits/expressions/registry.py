"""What a function that expressions may call is, and how a module says that it has one.

A name is the Catalyst class in snake_case (`StringSplitSQL` → `string_split_sql`), so that the front end
needs no table of its own. An entry is either a *kernel*, over evaluated arguments, or a *form*, which
decides itself which arguments are evaluated on which rows (CASE, AND, COALESCE ...).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression

Value: TypeAlias = pa.Array | pa.Scalar
Kernel: TypeAlias = Callable[..., Value]
Evaluate: TypeAlias = Callable[[Expression, pa.RecordBatch], Value]


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
        _add(Function(name, run, is_form=False, refuse=refuse))
        return run

    return register


def form(name: str, refuse: Callable[[Call], str | None] = _accept) -> Callable[[Kernel], Kernel]:
    """Register `run(call, rows, evaluate)`, which evaluates its own arguments."""

    def register(run: Kernel) -> Kernel:
        _add(Function(name, run, is_form=True, refuse=refuse))
        return run

    return register


def _add(function: Function) -> None:
    """Names are of one function each. A module is made anew where its import was interrupted."""
    known = _FUNCTIONS.get(function.name)
    assert known is None or _is_made_anew(function.run, known.run), function.name
    _FUNCTIONS[function.name] = function


def _is_made_anew(run: Kernel, before: Kernel) -> bool:
    place, known = (run.__module__, run.__qualname__), (before.__module__, before.__qualname__)
    return place == known and run.__globals__ is not before.__globals__


def registered() -> Mapping[str, Function]:
    """What has been registered so far, by name; `dbsp.circuits.functions.library` is all of it."""
    return _FUNCTIONS


def snake_case(catalyst_class: str) -> str:
    """`StringSplitSQL` → `string_split_sql`, `EqualTo` → `equal_to`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", catalyst_class).lower()
