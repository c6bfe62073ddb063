"""The tokens of a program, by Spark's lexical rules, and a cursor over them.

Only statement heads and tails are read as tokens; a query's text goes to Catalyst as the user wrote it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, Protocol

from dbsp.sql.text.source import Source

_TOKEN = re.compile(
    r"""
    (?P<space>   \s+ | --[^\n]* )
  | (?P<comment> /\* )
  | (?P<string>  [rR]'[^']*' | [rR]"[^"]*" | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" )
  | (?P<quoted>  `(?:[^`]|``)*` )
  | (?P<dollars> \$\$.*?\$\$ )
  | (?P<number>  (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\w* )
  | (?P<word>    [^\W\d]\w* )
  | (?P<open>    ['"`] | \$\$ )
  | (?P<symbol>  . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """kind: 'word', 'quoted', 'string', 'dollars', 'number', 'symbol' or 'end'.

    text[start:stop] is its spelling.
    """

    kind: str
    text: str
    start: int
    stop: int

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def name(self) -> str:
        """What it names, as it is written; the backticks of what `Cursor` gives are gone already."""
        return self.text[1:-1].replace("``", "`") if self.kind == "quoted" else self.text

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


class Spelled(Protocol):
    """A token, of whichever language."""

    @property
    def kind(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def upper(self) -> str: ...


def begins_at(words: Sequence[Spelled]) -> int:
    """The word that a statement begins with, after its WITH: `name [(columns)] AS (query), ...`"""
    depth = 0
    for at, word in enumerate(words if words and words[0].upper == "WITH" else ()):
        if depth == 0 and at and words[at - 1].text == ")" and word.upper not in ("AS", ","):
            return at
        depth += (word.text == "(") - (word.text == ")") if word.kind == "symbol" else 0
    return 0


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stands for source[start:stop]; exact: it is that text."""

    text: str
    start: int
    stop: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of the program's text, perhaps in another spelling (`sql/spellings/rewriting.py`).

    start, end: in the source's text. made_of: () if the text is the source's.
    """

    text: str
    start: int
    made_of: tuple[Piece, ...] = ()
    end: int = -1

    @property
    def stop(self) -> int:
        return self.end if self.made_of else self.start + len(self.text)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return self.made_of or (Piece(self.text, self.start, self.stop, True),)

    def place(self, offset: int) -> int:
        """Where in the source text[offset] stands, or what it stands for."""
        return self._place(offset)[0]

    def original(self, first: int, last: int, source: Source) -> str:
        """What the user wrote for text[first:last + 1]."""
        return source.text[self._place(first)[0] : self._place(last)[1]]

    def _place(self, offset: int) -> tuple[int, int]:
        for piece in self.pieces:
            if offset < len(piece.text):
                at = piece.start + offset
                return (at, at + 1) if piece.exact else (piece.start, piece.stop)
            offset -= len(piece.text)
        return self.stop, self.stop


@lru_cache(maxsize=8)  # each view of a program looks for its own among all of them
def tokens(source: Source) -> tuple[Token, ...]:
    """All tokens, ended by one of kind 'end'. Raises ProgramError for an unclosed string or comment."""
    text, found, at = source.text, list[Token](), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None and match.lastgroup is not None
        kind, stop = match.lastgroup, match.end()
        if kind == "comment":
            stop = _comment_end(source, at)
        elif kind == "open":
            raise source.error(at, f"{match[0]} is never closed")
        elif kind != "space":
            found.append(Token(kind, match[0], at, stop))
        at = stop
    return (*found, Token("end", "", len(text), len(text)))


def tokens_in(source: Source, text: Slice) -> list[Token]:
    """Those of a piece as it is written. Cost: O(log n) of the program, and the piece's own."""
    found = tokens(source)
    first, last = (bisect_left(found, place, key=_start) for place in (text.start, text.stop))
    return [*found[first:last]]


def _start(token: Token) -> int:
    return token.start


def _comment_end(source: Source, start: int) -> int:
    depth, at = 1, start + 2
    for match in re.compile(r"/\*|\*/").finditer(source.text, at):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    raise source.error(start, "/* is never closed")


@dataclass(frozen=True, slots=True)
class InUse:
    """What USE has named: '' where it hasn't."""

    catalog: str = ""
    schema: str = ""

    def relation(self, parts: Sequence[str]) -> str:
        """The name, in a program, of the relation that is written as these parts."""
        if len(parts) > 1 and parts[0].upper() == "LIVE":  # how pipelines call what they define
            parts = parts[1:]
        before = (self.catalog, self.schema)[: max(3 - len(parts), 0)]
        return ".".join([*filter(None, before), *parts])


class Cursor:
    """Reads one statement's tokens from left to right.

    ignored: what says nothing here, why, and its place.
    """

    def __init__(self, source: Source, tokens: Sequence[Token], in_use: InUse | None = None) -> None:
        self.source = source
        self.tokens = tokens
        self.at = 0
        self.in_use = in_use or InUse()
        self.ignored: list[tuple[str, str, int]] = []

    def ignore(self, what: str, why: str, token: Token) -> None:
        self.ignored.append((what, why, token.start))

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def ahead(self, distance: int) -> Token:
        return self.tokens[min(self.at + distance, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.next
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def sees(self, *words: str) -> bool:
        return all(self.ahead(i).upper == word for i, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        if self.sees(*words):
            self.at += len(words)
            return True
        return False

    def expect(self, what: str) -> Token:
        if self.next.upper != what:
            self.fail(f"expected {what}, found {self.next}")
        return self.take()

    def name(self, what: str) -> Token:
        """An identifier; a quoted one loses its backticks."""
        token = self.take()
        if token.kind == "quoted":
            return Token("quoted", token.name, token.start, token.stop)
        if token.kind != "word":
            self.fail(f"expected {what}, found {token}", token)
        return token

    def relation(self, what: str) -> Token:
        """The name of a table or view, with a schema and a catalog before it or without."""
        first = self.name(what)
        parts = [first.text]
        while self.accept("."):
            parts.append(self.name(what).text)
        return Token("quoted", self.in_use.relation(parts), first.start, self.ahead(-1).stop)

    def parentheses(self) -> None:
        """Moves behind those that open here."""
        depth = 0
        while self.next.kind != "end":
            text = self.take().text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return
        self.fail("expected ), found the end")

    def value(self) -> str:
        """A string, number, boolean or dotted word: what OPTIONS and WITH take."""
        token = self.take()
        if token.kind == "string":
            return unquote(token.text)
        text = token.text
        if token.text == "-" and self.next.kind == "number":
            return "-" + self.take().text
        if token.kind not in ("word", "number", "quoted"):
            self.fail(f"expected a value, found {token}", token)
        return text.strip("`")

    def type(self, what: str, ends: Set[str]) -> Slice:
        """The text of a type, up to a comma, a parenthesis that isn't its own, or one of the words `ends`."""
        first = last = self.next
        depth = 0
        while self.next.kind != "end":
            token = self.next
            if depth == 0 and (token.text in (",", ")") or token.upper in ends):
                break
            depth += (token.text in ("(", "<")) - (token.text in (")", ">"))
            last = self.take()
        if self.next is first:
            self.fail(f"{what} has no type")
        return Slice(self.source.text[first.start : last.stop], first.start)

    def until(self, at: int | None = None) -> Slice:
        """The text from here to token number `at`, or to the statement's end, and move there."""
        start = self.next.start
        at = len(self.tokens) - 1 if at is None else at
        stop = self.tokens[at - 1].stop if at else start
        self.at = at
        return Slice(self.source.text[start:stop], start)

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        raise self.source.error((token or self.next).start, message)


def quoted(parts: Sequence[str]) -> str:
    """A name of several parts, as SQL spells it."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def unquote(literal: str) -> str:
    """The value of a string literal."""
    if literal[0] in "rR":
        return literal[2:-1]
    quote, body = literal[0], literal[1:-1]

    def plain(match: re.Match[str]) -> str:
        escaped = match[0]
        return quote if escaped == quote * 2 else _ESCAPES.get(escaped[1], escaped[1])

    return re.sub(rf"\\.|{quote}{quote}", plain, body, flags=re.DOTALL)
