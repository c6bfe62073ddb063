"""Spark's datetime patterns, read into fields and literals.

`yyyy-MM-dd'T'HH:mm` is y4 '-' M2 '-' d2 'T' H2 ':' m2. The letters are java.time's, with y the proleptic
year; what Spark itself rejects, or what isn't covered here, is named by `refuse_format` and `refuse_parse`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

# letter → how often it may be repeated
_SHOWN = {
    letter: count
    for count, letters in ((1, "aF"), (2, "dHhkKmsQq"), (3, "DXxZ"), (4, "MLE"), (6, "y"), (9, "S"))
    for letter in letters
}
_PARSED = frozenset("yMLdahHkKmsS")


@dataclass(frozen=True, slots=True)
class Field:
    """letter: of the pattern, or '' for a literal. count: how often it is repeated. text: the literal."""

    letter: str
    count: int
    text: str = ""


@lru_cache(maxsize=256)
def read_pattern(pattern: str) -> tuple[Field, ...] | str:
    """The pattern's fields, or why it can't be read."""
    fields: list[Field] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "'":
            literal, at = _quoted(pattern, at + 1)
            if at < 0:
                return f"the unterminated quote in the datetime pattern '{pattern}'"
            fields.append(Field("", 0, literal))
            continue
        if letter in "{}#":
            return f"the reserved character {letter} in the datetime pattern '{pattern}'"
        end = at + 1
        if letter.isascii() and letter.isalpha():
            while end < len(pattern) and pattern[end] == letter:
                end += 1
            fields.append(Field(letter, end - at))
        else:
            fields.append(Field("", 0, letter))
        at = end
    return tuple(fields)


def _quoted(pattern: str, at: int) -> tuple[str, int]:
    """The literal from `at` to its closing quote and the place behind it; '' is a quote, alone or within."""
    literal = ""
    while at < len(pattern):
        if pattern[at] != "'":
            literal += pattern[at]
            at += 1
        elif pattern[at + 1 : at + 2] == "'":
            literal += "'"
            at += 2
        else:
            return literal or "'", at + 1
    return literal, -1


def refuse_format(pattern: str) -> str | None:
    """What of the pattern can't be formatted, as a phrase."""
    fields = read_pattern(pattern)
    if isinstance(fields, str):
        return fields
    for field in fields:
        if field.letter and field.count > _SHOWN.get(field.letter, 0):
            return f"'{field.letter * field.count}' in the datetime pattern '{pattern}'"
    return None


def refuse_parse(pattern: str) -> str | None:
    """What of the pattern can't be parsed, as a phrase."""
    fields = read_pattern(pattern)
    if isinstance(fields, str):
        return fields
    letters = [field.letter for field in fields if field.letter]
    for field in fields:
        if field.text in ("[", "]"):
            return f"an optional section in the datetime pattern '{pattern}'"
        if field.letter and (field.letter not in _PARSED or field.count > _SHOWN[field.letter]):
            return f"parsing '{field.letter * field.count}' of the datetime pattern '{pattern}'"
    months = ["M" if letter == "L" else letter for letter in letters]
    hours = [letter for letter in letters if letter in "HhkK"]
    if len(set(months)) < len(months) or len(hours) > 1 or ("a" in letters and hours not in (["h"], ["K"])):
        return f"parsing the datetime pattern '{pattern}', which gives a field twice"
    return None
