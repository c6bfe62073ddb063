"""The library: every function that expressions may call, by name.

A module registers its functions when it is imported; one that isn't imported here adds none.
"""

# ruff: noqa: F401  what is imported has registered itself

from __future__ import annotations

from dbsp.circuits.expressions.registry import Function, registered
from dbsp.circuits.functions.casts import cast
from dbsp.circuits.functions.collections import (
    array_order,
    array_sets,
    array_sort,
    arrays,
    lambdas,
    maps,
    sequences,
    structures,
)
from dbsp.circuits.functions.json import to_json
from dbsp.circuits.functions.logic import comparison, conditional, failing, interval_codes, logic, mirrored
from dbsp.circuits.functions.numbers import arithmetic, bits, division, drawn, math, rounding
from dbsp.circuits.functions.python import calls
from dbsp.circuits.functions.spark import expression
from dbsp.circuits.functions.texts import (
    encodings,
    luhn,
    patterns,
    similarity,
    spark_hashes,
    strings,
    substrings,
    urls,
    utf8_validity,
)
from dbsp.circuits.functions.texts.regex import functions
from dbsp.circuits.functions.times import (
    calendar_intervals,
    date_arithmetic,
    date_format,
    date_parse,
    date_parts,
    date_truncation,
    date_units,
    dates,
    interval_arithmetic,
    zone_shifts,
)


def find(name: str) -> Function | None:
    """The function of that name, or None."""
    return registered().get(name)
