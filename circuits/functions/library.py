"""The library: every function that expressions may call, by name.

A module registers its functions when it is imported; one that isn't named here adds none.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from dbsp.circuits.expressions.registry import Function, registered

# What most programs call comes first: a name is looked for in one family after the other, and no module of a
# later one is imported. All of them take five times as long as conditions and arithmetic.
_FAMILIES = {
    "logic": ("comparison", "conditional", "failing", "interval_codes", "logic", "mirrored", "saturated"),
    "numbers": ("arithmetic", "bits", "division", "drawn", "math", "rounding"),
    "casts": ("cast",),
    "times": (
        "calendar_intervals",
        "date_arithmetic",
        "date_format",
        "date_parse",
        "date_parts",
        "date_truncation",
        "date_units",
        "dates",
        "interval_arithmetic",
        "zone_shifts",
    ),
    "collections": (
        "array_order",
        "array_sets",
        "array_sort",
        "arrays",
        "lambdas",
        "maps",
        "sequences",
        "structures",
    ),
    "texts": (
        "encodings",
        "luhn",
        "patterns",
        "regex.functions",
        "similarity",
        "spark_hashes",
        "strings",
        "substrings",
        "urls",
        "utf8_validity",
    ),
    "json": ("to_json",),
    "python": ("calls",),
    "spark": ("expression",),
}


def find(name: str) -> Function | None:
    """The function of that name, or None."""
    for family in _FAMILIES:
        if name in registered():
            break
        _register(family)
    return registered().get(name)


@cache
def _register(family: str) -> None:
    for module in _FAMILIES[family]:
        import_module(f"dbsp.circuits.functions.{family}.{module}")
