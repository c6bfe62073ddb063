r"""The sets of \p{…}: POSIX's over ASCII, and Unicode's general categories.

Categories are those of this Python's Unicode, which may be a version ahead of or behind Java's: they differ
in code points that one of the two doesn't know yet.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.character_classes import LAST, Ranges

# Java's names of categories and of what it computes of them, by the first letters of categories
_NAMED = {
    "IsLetter": ("L",),
    "IsDigit": ("Nd",),
    "IsPunctuation": ("P",),
    "IsControl": ("Cc",),
    "LC": ("Lu", "Ll", "Lt"),
    "LD": ("L", "Nd"),
}
_CATEGORY = re.compile("L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfons]?")


def property_ranges(name: str) -> Ranges | None:
    """Of the name between the braces; None for one that isn't among them."""
    if name in classes.POSIX:
        return classes.POSIX[name]
    if name == "L1":
        return ((0, 255),)
    if name in ("IsUppercase", "javaUpperCase"):
        return _where(str.isupper)
    if name in ("IsLowercase", "javaLowerCase"):
        return _where(str.islower)
    if name in _NAMED:
        return classes.union(*map(category, _NAMED[name]))
    for prefix in ("general_category=", "gc=", "Is"):
        name = name.removeprefix(prefix)
    return category(name) if _CATEGORY.fullmatch(name) else None


@cache
def category(prefix: str) -> Ranges:
    """The code points whose category begins so. (Those of half a pair of UTF-16 are Cs.)"""
    return classes.union(*(ranges for name, ranges in _categories().items() if name.startswith(prefix)))


@cache
def _categories() -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for code in range(1, LAST + 2):
        name = unicodedata.category(chr(code)) if code <= LAST else ""
        if name != current:
            found.setdefault(current, []).append((start, code - 1))
            start, current = code, name
    return {name: tuple(ranges) for name, ranges in found.items()}


@cache
def _where(holds: Callable[[str], bool]) -> Ranges:
    return classes.union(tuple((code, code) for code in range(LAST + 1) if holds(chr(code))))
