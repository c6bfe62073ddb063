"""Sets of code points as sorted, disjoint ranges: what a regular expression's [...] means.

Java and RE2 disagree about the members of \\s, `.` and (?i), so that classes are computed here and written
out as plain ranges, which mean the same everywhere.
"""

from __future__ import annotations

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
ALL: Ranges = ((0, LAST),)


def union(*sets: Ranges) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pair for each in sets for pair in each):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    gaps, next_code = [], 0
    for low, high in ranges:
        if low > next_code:
            gaps.append((next_code, low - 1))
        next_code = high + 1
    if next_code <= LAST:
        gaps.append((next_code, LAST))
    return tuple(gaps)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    return complement(union(complement(left), complement(right)))


def both_cases(ranges: Ranges) -> Ranges:
    """With the other case of every ASCII letter: Java's (?i) without (?u)."""
    lower = intersection(ranges, LETTERS_LOWER)
    upper = intersection(ranges, LETTERS_UPPER)
    raised = tuple((low - 32, high - 32) for low, high in lower)
    lowered = tuple((low + 32, high + 32) for low, high in upper)
    return union(ranges, raised, lowered)


def of(*parts: str) -> Ranges:
    """`of("az", "_")`: the range a … z and the character _."""
    return union(*(((ord(part[0]), ord(part[-1])),) for part in parts))


LETTERS_LOWER, LETTERS_UPPER, DIGITS = of("az"), of("AZ"), of("09")
LETTERS = union(LETTERS_LOWER, LETTERS_UPPER)
WORD = union(LETTERS, DIGITS, of("_"))
SPACE = of("\t\r", " ")  # \t \n \x0b \f \r and the space
LINE_ENDS = of("\n", "\r", "\u0085", "\u2028\u2029")
HORIZONTAL = of("\t", " ", "\u00a0", "\u1680", "\u180e", "\u2000\u200a", "\u202f", "\u205f", "\u3000")
VERTICAL = of("\n\r", "\u0085", "\u2028\u2029")
PUNCTUATION = of("!/", ":@", "[`", "{~")

ESCAPES: dict[str, Ranges] = {"d": DIGITS, "w": WORD, "s": SPACE, "h": HORIZONTAL, "v": VERTICAL}
ESCAPES |= {name.upper(): complement(ranges) for name, ranges in ESCAPES.items()}

POSIX: dict[str, Ranges] = {
    "Lower": LETTERS_LOWER,
    "Upper": LETTERS_UPPER,
    "ASCII": of("\0\x7f"),
    "Alpha": LETTERS,
    "Digit": DIGITS,
    "Alnum": union(LETTERS, DIGITS),
    "Punct": PUNCTUATION,
    "Graph": union(LETTERS, DIGITS, PUNCTUATION),
    "Print": of(" ~"),
    "Blank": of(" ", "\t"),
    "Cntrl": of("\0\x1f", "\x7f"),
    "XDigit": union(DIGITS, of("af"), of("AF")),
    "Space": SPACE,
}


def written(ranges: Ranges) -> str:
    """The set as RE2 and Python's re both read it."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _character(ranges[0][0])
    parts = (
        _character(low) if low == high else f"{_character(low)}-{_character(high)}" for low, high in ranges
    )
    return "[" + "".join(parts) + "]" if ranges else r"[^\x00-" + chr(LAST) + "]"


def _character(code: int) -> str:
    character = chr(code)
    if character.isascii() and not character.isalnum():
        return f"\\x{code:02x}"
    return character
