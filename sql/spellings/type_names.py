"""Types as other systems call them, where Spark has no such name.

VARCHAR, CHAR without a length, TEXT    STRING
DATETIME                                TIMESTAMP
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.sql.spellings.rewriting import Edit, rewritten
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token, tokens_in

OTHER_NAMES = {"VARCHAR": "STRING", "CHAR": "STRING", "TEXT": "STRING", "DATETIME": "TIMESTAMP"}
# what may follow the name of a type
_CLAUSES = {"NOT", "COMMENT", "COLLATE"}
_CASTS = {"CAST", "TRY_CAST"}


def spelled_column_type(source: Source, text: Slice) -> Slice:
    """A column's type, with its inner ones."""
    inside = tokens_in(source, text)
    end = Token("end", "", text.stop, text.stop)
    found = [_edit(token, after) for token, after in zip(inside, [*inside[1:], end], strict=True)]
    return rewritten(source, text, [edit for edit in found if edit is not None])


def spelled_type(inside: Sequence[Token], at: int) -> Edit | None:
    """The edit of a name within a query, if it is that of the type of a cast.

    inside: ended by one of kind 'end'.
    """
    token, after = inside[at], inside[at + 1]
    if at > 1 and inside[at - 1].text == inside[at - 2].text == ":" and after.text != "(":
        return Edit(token.start, token.stop, (OTHER_NAMES[token.upper],))
    return _edit(token, after) if _is_of_cast(inside, at) else None


def _edit(token: Token, after: Token) -> Edit | None:
    """None for a field's name, which has a type behind it, and for a type with a length."""
    name = OTHER_NAMES.get(token.upper) if token.kind == "word" else None
    is_field = after.kind in ("word", "quoted") and after.upper not in _CLAUSES
    if name is None or is_field or after.text in ("(", ":"):
        return None
    return Edit(token.start, token.stop, (name,))


def _is_of_cast(inside: Sequence[Token], at: int) -> bool:
    """Whether the token is within the type that `::`, or `CAST(x AS`, announces."""
    depth = 0
    for i in range(at - 1, 0, -1):
        token = inside[i]
        if token.upper == "AS" and depth == 0:
            return _call_around(inside, i) in _CASTS
        if token.text == ":" and inside[i - 1].text == ":":
            return True
        depth += (token.text == ")") - (token.text == "(")
        if not (token.kind in ("word", "number", "quoted") or token.text in "<>:,()"):
            return False
    return False


def _call_around(inside: Sequence[Token], at: int) -> str:
    """The name before the parenthesis that is open at a token, in capitals."""
    depth = 0
    for i in range(at, 0, -1):
        depth += (inside[i].text == ")") - (inside[i].text == "(")
        if depth < 0:
            return inside[i - 1].upper
    return ""
