"""LIMIT and OFFSET by integers of any type, and by parameters that have no value yet.

Spark takes a literal of INT. More than that is more rows than there can be: all of them, or none after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import Word
from dbsp.serving.postgres.language.type_names import type_at
from dbsp.serving.postgres.language.wrong import Wrong

# more rows than a query may hold; Spark's limit and offset are together less than 2^31
_MOST = 2**30 - 1
# what NULL means, and a number that is too low
_OF = {"LIMIT": ("ALL", "2201W"), "OFFSET": ("0", "2201X")}


def with_limits(words: Sequence[Word], values: Sequence[Value]) -> Sequence[Word]:
    """The same words, with what Spark is told of such numbers. Raises Wrong."""
    found = list(words)
    for at, word in enumerate(words):
        if word.kind == "word" and word.upper in _OF:
            start, end = _count(words, at + 1)
            number = next((i for i in range(start, end) if words[i].kind in ("number", "parameter")), None)
            if number is None:
                continue
            spark = _said(word, words[number], values)
            for i in range(at + 1, end):
                found[i] = replace(words[i], spark=spark if i == number else "", ahead="")
    return found


def _count(words: Sequence[Word], at: int) -> tuple[int, int]:
    """(where a constant begins, where it ends with its parentheses and casts); (0, 0): it is none."""
    opened = at
    while opened < len(words) and words[opened].text == "(":
        opened += 1
    if opened >= len(words) or words[opened].kind not in ("number", "parameter"):
        return 0, 0
    end = _after_cast(words, opened + 1)
    for _ in range(opened - at):
        if end >= len(words) or words[end].text != ")":
            return 0, 0
        end = _after_cast(words, end + 1)
    is_more = end < len(words) and words[end].kind == "symbol" and words[end].text in "+-*/%|"
    return (0, 0) if is_more else (opened, end)


def _after_cast(words: Sequence[Word], at: int) -> int:
    while at < len(words) and words[at].kind == "cast":
        named = type_at(words, at + 1)
        at = at + 2 if named is None else named.end
    return at


def _said(clause: Word, number: Word, values: Sequence[Value]) -> str:
    none, code = _OF[clause.upper]
    text: str | None = number.text
    if number.kind == "parameter":
        place = int(number.text[1:])
        if place > len(values):
            return number.text
        text = values[place - 1].text
    if text is None:
        return none
    try:
        count = Decimal(text.strip())
    except InvalidOperation:
        count = Decimal("NaN")
    if not count.is_finite() or count != count.to_integral_value():
        raise Wrong("22023", f"{clause.upper} {text[:40]}: give a whole number of rows", number.start + 1)
    if count < 0:
        raise Wrong(code, f"{clause.upper} {text[:40]}: give a number of rows from 0 on", number.start + 1)
    if count > _MOST:
        return str(_MOST) if clause.upper == "OFFSET" else none
    return str(int(count))
