"""What a call does where it has no result: an error (ANSI), or NULL (TRY, and LEGACY in part)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors.numbers import Mask, Vector, require

ANSI, TRY, LEGACY = "ANSI", "TRY", "LEGACY"


def mode(call: Call) -> str:
    """The evaluation mode, which classes of expressions spell in three ways."""
    options = dict(call.options)
    if "evalMode" in options:
        return str(options["evalMode"])
    if "failOnError" in options:
        return ANSI if options["failOnError"] else LEGACY
    if "nullOnOverflow" in options:
        return LEGACY if options["nullOnOverflow"] else ANSI
    return ANSI


def checked(
    call: Call, good: Mask, condition: str, message: Callable[[int], str], *inputs: Vector
) -> Mask | None:
    """For results that exist only where `good`: raises under ANSI, else the mask of valid results."""
    if good.all():
        return None
    if mode(call) == ANSI:
        require(np.broadcast_to(good, _rows(good, inputs)), condition, message, *inputs)
        return None
    return good


def _rows(good: Mask, inputs: tuple[Vector, ...]) -> tuple[int]:
    return (max([len(good), *(len(each.values) for each in inputs)]),)
