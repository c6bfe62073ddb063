"""Spark's datetime patterns, read into fields and literals.

`yyyy-MM-dd'T'HH:mm` is y4 '-' M2 '-' d2 'T' H2 ':' m2. The letters are java.time's, with y the proleptic
year; what Spark itself rejects, or what isn't covered here, is named by `refuse_format` and `refuse_parse`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dbsp.circuits.errors import EvaluationError

# letter → how often it may be repeated
_SHOWN = {
    letter: count
    for count, letters in ((1, "aF"), (2, "dHhkKmsV"), (3, "DXxZ"), (4, "MLEQqGO"), (6, "y"), (9, "S"))
    for letter in letters
}
# those that may not be repeated less often
_ONLY = {"O": (1, 4), "V": (2,)}
_PARSED = frozenset("yMLdDahHkKmsSXxZ")
OFFSETS = "XxZ"


@dataclass(frozen=True, slots=True)
class Field:
    """letter: of the pattern, or '' for a literal. count: how often it is repeated; of a literal 1 if quoted.

    text: the literal.
    """

    letter: str
    count: int
    text: str = ""

    @property
    def bracket(self) -> str:
        """'[' or ']' where it begins or ends an optional section."""
        return self.text if self.count == 0 and self.text in ("[", "]") else ""


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
            fields.append(Field("", 1, literal))
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


def check_format(pattern: str) -> None:
    """Raises EvaluationError, as Spark does where a pattern is not a constant."""
    _check(pattern, refuse_format(pattern))


def check_parse(pattern: str) -> None:
    """The same, of parsing."""
    _check(pattern, refuse_parse(pattern))


def _check(pattern: str, why: str | None) -> None:
    if why is not None:
        message = f"'{pattern}': not supported: {why}"
        raise EvaluationError("INVALID_DATETIME_PATTERN.WITH_SUGGESTION", message, 0)


def refuse_format(pattern: str) -> str | None:
    """What of the pattern can't be formatted, as a phrase."""
    fields = read_pattern(pattern)
    if isinstance(fields, str):
        return fields
    for field in fields:
        if field.letter and not _fits(field):
            return f"'{field.letter * field.count}' in the datetime pattern '{pattern}'"
    return None


def _fits(field: Field) -> bool:
    only = _ONLY.get(field.letter)
    return field.count in only if only else field.count <= _SHOWN.get(field.letter, 0)


def refuse_parse(pattern: str) -> str | None:
    """What of the pattern can't be parsed, as a phrase."""
    fields = read_pattern(pattern)
    if isinstance(fields, str):
        return fields
    depth = 0
    for field in fields:
        depth += (field.bracket == "[") - (field.bracket == "]")
        if depth < 0:
            return f"a ']' without '[' in the datetime pattern '{pattern}'"
        if field.letter and (field.letter not in _PARSED or not _fits(field)):
            return f"parsing '{field.letter * field.count}' of the datetime pattern '{pattern}'"
    letters = [field.letter for field in fields if field.letter]
    once = [_MEANS.get(letter, letter) for letter in letters]
    hours = [letter for letter in letters if letter in "HhkK"]
    of_year = "D" in letters and not {"M", "L", "d"}.isdisjoint(letters)
    if len(set(once)) < len(once) or of_year:
        return f"parsing the datetime pattern '{pattern}', which gives a field twice"
    if len(hours) > 1 or ("a" in letters and hours not in (["h"], ["K"])):
        return f"parsing the datetime pattern '{pattern}', which gives a field twice"
    return None


# letters of one meaning
_MEANS = {"L": "M", "x": "X", "Z": "X"}


@dataclass(frozen=True, slots=True)
class Optional:
    """What stands between [ and ], the last of which may be left out."""

    parts: tuple[Part, ...]


Part = Field | Optional


def sections(fields: tuple[Field, ...]) -> tuple[Part, ...]:
    """The fields, with those in brackets together."""
    open_: list[list[Part]] = [[]]
    for field in fields:
        if field.bracket == "[":
            open_.append([])
        elif field.bracket == "]":
            inner = Optional(tuple(open_.pop()))
            open_[-1].append(inner)
        else:
            open_[-1].append(field)
    while len(open_) > 1:
        inner = Optional(tuple(open_.pop()))
        open_[-1].append(inner)
    return tuple(open_[0])
