r"""A regular expression for RE2, which takes time in proportion to the text.

RE2 and java.util.regex both return the leftmost match that a backtracking search meets first, so an
expression carries over wherever its parts mean the same. What RE2 lacks (look-around, back-references,
possessive quantifiers, \b in Unicode text) or means differently (repetition of what can be empty) has no
form: the parser refuses the first, and the writer the second.

`$` of Java also matches before a final line terminator. RE2 can't look ahead, so the terminator is consumed,
which only a match's own text or a following match can show: see `Linear.dollar`.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.nodes import (
    Anchor,
    Characters,
    Choice,
    Group,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
)
from dbsp.circuits.functions.texts.regex.parser import Parsed

_TERMINATOR = "(?:\\r\\n|" + classes.written(classes.LINE_ENDS) + ")?"
_DOLLAR = _TERMINATOR + r"\z"
_MOST_REPEATS = 1000  # of RE2


@dataclass(frozen=True, slots=True)
class Linear:
    """tokens: text, or the number of the capturing group that opens there.

    dollar: '' without `$`; 'last' where it is the pattern's end at top level (then not in tokens);
    'inside' elsewhere.
    """

    tokens: tuple[str | int, ...]
    dollar: str

    def pattern(self, capture: int | None = None) -> str:
        """With `capture` as the named group g (0: all of it) and no other group; None: no groups."""
        opened = (
            (token if isinstance(token, str) else "(?P<g>" if token == capture else "(?:")
            for token in self.tokens
        )
        body = "".join(opened)
        body = f"(?P<g>{body})" if capture == 0 else f"(?:{body})"
        return body + (_DOLLAR if self.dollar == "last" else "")

    def capturing(self) -> str:
        """With all groups numbered; a `$` at the end captures the terminator as one more group."""
        body = "".join(token if isinstance(token, str) else "(" for token in self.tokens)
        return f"(?:{body})" + (f"({_TERMINATOR})\\z" if self.dollar == "last" else "")


class _NoForm(Exception):
    """RE2 has nothing that means the same."""


def linear(parsed: Parsed) -> Linear | None:
    """None where there is no such form."""
    out: list[str | int] = []
    try:
        _write(parsed.tree, out, True)
    except _NoForm:
        return None
    tokens, dollar = tuple(out), ""
    dollars = tokens.count(_DOLLAR)
    if dollars:
        is_last = dollars == 1 and tokens[-1] == _DOLLAR
        dollar, tokens = ("last", tokens[:-1]) if is_last else ("inside", tokens)
    form = Linear(tokens, dollar)
    try:
        pc.match_substring_regex(pa.array([], pa.string()), form.capturing())
    except pa.ArrowInvalid:  # its automaton would be too large
        return None
    return form


def _write(node: Node, out: list[str | int], is_last: bool) -> None:
    """is_last: nothing of the expression comes behind it."""
    if isinstance(node, Characters):
        out.append(classes.written(node.ranges))
    elif isinstance(node, Sequence):
        for part in node.parts:
            _write(part, out, is_last and part is node.parts[-1])
    elif isinstance(node, Choice):
        out.append("(?:")
        for option in node.options:
            _write(option, out, is_last)
            out.append("|")
        out[-1] = ")"
    elif isinstance(node, Group):
        out.append(node.number)
        _write(node.body, out, is_last)
        out.append(")")
    elif isinstance(node, Repeat):
        many = node.most is None or node.most > 1
        if (many and can_be_empty(node.body)) or max(node.least, node.most or 0) > _MOST_REPEATS:
            raise _NoForm
        out.append("(?:")
        _write(node.body, out, False)
        out.append(")" + _times(node) + node.taste)
    else:
        out.append(_edge(node.anchor, is_last))


def _edge(anchor: Anchor, is_last: bool) -> str:
    if anchor == "last line end" and is_last:
        return _DOLLAR
    if anchor == "last line end":
        raise _NoForm
    return r"\A" if anchor == "text begin" else r"\z"


def _times(node: Repeat) -> str:
    """How often."""
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.least, node.most))
    return short or f"{{{node.least},{'' if node.most is None else node.most}}}"
