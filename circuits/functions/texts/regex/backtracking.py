r"""A regular expression for the standard library's `re`, which searches as java.util.regex does.

Both backtrack in the same order, have look-around, back-references, possessive quantifiers and atomic groups.
What differs is written out: sets, the edges of lines and words, look-behind of several lengths.

Java matches UTF-16. Where a search may begin between the halves of a pair, as behind an empty match before
it, Java sees them one by one; so a text beyond U+FFFF is matched unit by unit, a code point being
two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.character_classes import Ranges
from dbsp.circuits.functions.texts.regex.linear import times
from dbsp.circuits.functions.texts.regex.nodes import (
    Atomic,
    Characters,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    walk,
)
from dbsp.circuits.functions.texts.regex.parser import LINE_END, Parsed
from dbsp.circuits.functions.texts.regex.scanner import Refused
from dbsp.circuits.functions.texts.regex.unicode_classes import category

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH, _LOW = ((0xD800, 0xDBFF),), ((0xDC00, 0xDFFF),)
_MOST_LENGTHS = 200  # of a look-behind
_MARKS = 2  # that a word's last letter may carry
_NOT_AFTER_RETURN = r"(?<!\r)"
_EDGES = {
    "text begin": r"\A",
    "text end": r"\Z",
    "last line end": r"(?=(?:\r\n|(?<!\r)\n|[\r\u0085\u2028\u2029])?\Z)",
    "line begin": r"(?!\Z)(?:\A|(?<=[\n\u0085\u2028\u2029])|(?<=\r)(?!\n))",
    "line end": r"(?:\Z|(?=[\r\u0085\u2028\u2029])|(?<!\r)(?=\n))",
    "last unix line end": r"(?=\n?\Z)",
    "unix line begin": r"(?!\Z)(?:\A|(?<=\n))",
    "unix line end": r"(?=\n|\Z)",
}


class _Needs(NamedTuple):
    r"""What a text asks of the pattern: units, words unlike Python's, a \n at its begin behind \r."""

    units: bool = False
    words: bool = False
    after_return: bool = False


@dataclass(frozen=True)
class Backtracking:
    """source: the user's own text, for errors. Raises Refused where there is no such form."""

    parsed: Parsed
    source: str
    _compiled: dict[_Needs, re.Pattern[str]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self._pattern(_Needs())

    def _pattern(self, needs: _Needs) -> re.Pattern[str]:
        if needs not in self._compiled:
            self._compiled[needs] = self._compile(*needs)
        return self._compiled[needs]

    def _compile(self, units: bool, words: bool, after_return: bool) -> re.Pattern[str]:
        body = _Writer(self.source, units, words, self.parsed.beyond).written(self.parsed.tree)
        if after_return:  # the \n that a search begins with is no end of a line
            body = body.replace(_NOT_AFTER_RETURN, _NOT_AFTER_RETURN + r"(?!\A)")
        try:
            return re.compile(body)
        except (re.error, OverflowError, RecursionError) as error:
            raise Refused(f"the regular expression '{self.source}' ({error})") from error

    def search(self, text: str) -> re.Match[str] | None:
        """The first match; its positions are `as_searched(text)`'s."""
        return next(self.matches(as_searched(text)), None)

    def matches(self, searched: str, begin: int = 0) -> Iterator[re.Match[str]]:
        """From left to right, as of `searched[begin:]` alone: the positions are there.

        Behind an empty match Java goes on one unit further.
        """
        region = searched[begin:] if begin else searched
        cut = begin > 0 and searched[begin - 1] == "\r" and region.startswith("\n")
        if searched.isascii():
            needs = _Needs(after_return=cut)
        else:
            words = self.parsed.has_words and _has_other_words(searched)
            needs = _Needs(_has_surrogates(searched), words, cut)
        pattern = self._pattern(needs)
        position = 0
        while position <= len(region):
            match = pattern.search(region, position)
            if self.parsed.beyond:  # then Java begins between the halves of a pair only where it is told to
                while match is not None and match.start() > position and _is_half(region, match.start()):
                    match = pattern.search(region, match.start() + 1)
            if match is None:
                return
            yield match
            position = match.end() + (match.end() == match.start())


def _is_half(searched: str, index: int) -> bool:
    return "\udc00" <= searched[index : index + 1] <= "\udfff" and "\ud800" <= searched[index - 1] <= "\udbff"


def characters_before(searched: str, index: int) -> int:
    """How many there are: Spark counts them, not their units."""
    return len(_joined(searched[:index]))


def captured(match: re.Match[str], group: int) -> str:
    """Of a match; '' of a group that took no part."""
    return as_text(match[f"g{group}" if group else 0] or "")


def as_searched(text: str) -> str:
    """A character for each of the text's UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    return units.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def as_text(searched: str) -> str:
    """The inverse; half a pair is written as Java does, '?'."""
    if searched.isascii() or not _has_surrogates(searched):
        return searched
    return _joined(searched).encode("utf-8", "replace").decode()


def _joined(searched: str) -> str:
    return searched.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _has_surrogates(text: str) -> bool:
    return _SURROGATE.search(text) is not None


def _has_other_words(searched: str) -> bool:
    r"""Whether Python's \b isn't Java's: of marks, numbers beyond digits, letters that are pairs."""
    for character in as_text(searched):
        name = unicodedata.category(character)
        if name == "Mn" or character.isalnum() != (name[0] == "L" or name == "Nd"):
            return True
        if character > "\uffff" and character.isalnum():
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Writer:
    source: str
    units: bool
    words: bool = False
    guarded: bool = False
    numbers: Iterator[int] = field(default_factory=count)

    def written(self, node: Node) -> str:
        if isinstance(node, Characters):
            return self.characters(node.ranges)
        if isinstance(node, Sequence):
            return "".join(map(self.written, node.parts))
        if isinstance(node, Choice):
            return "(?:" + "|".join(map(self.written, node.options)) + ")"
        if isinstance(node, Group):
            return f"(?P<g{node.number}>{self.written(node.body)})"
        if isinstance(node, Atomic):
            return self.atomic(node.body, self.written(node.body))
        if isinstance(node, Repeat):
            repeated = f"(?:{self.written(node.body)}){times(node)}"
            return self.atomic(node.body, repeated) if node.taste == "+" else repeated + node.taste
        if isinstance(node, Reference):
            if not node.exists:
                return r"(?!)"
            same = f"(?P=g{node.group})"
            return f"(?ai:{same})" if node.ignore_case else same
        if isinstance(node, Edge):
            if node.anchor in _EDGES:
                return _EDGES[node.anchor]
            if self.words:
                return self.written(_word_edge(node.anchor == "no word edge"))
            return (
                r"\b" if node.anchor == "word edge" else r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))"
            )  # \B of some releases isn't in the empty text
        if node.ahead:
            return f"(?{'!' if node.negated else '='}{self.written(node.body)})"
        return self.behind(node)

    def atomic(self, body: Node, written: str) -> str:
        """Python's own loses groups in it (3.11, 3.12); what look-ahead found is as final."""
        if not any(isinstance(each, Group) for each in walk(body)):
            return f"(?>{written})"
        name = f"a{next(self.numbers)}"
        return f"(?=(?P<{name}>{written}))(?P={name})"

    def behind(self, node: Look) -> str:
        if any(each is LINE_END for each in walk(node.body)):
            raise Refused(f"\\R in look-behind in the regular expression '{self.source}'")
        bodies = lengths(_in_units(node.body, self.guarded) if self.units else node.body)
        if bodies is None:
            raise Refused(f"look-behind of too many lengths in the regular expression '{self.source}'")
        plain = replace(self, units=False)
        looks = [f"(?<{'!' if node.negated else '='}{plain.written(body)})" for body in bodies.values()]
        return "".join(looks) if node.negated else "(?:" + "|".join(looks) + ")"

    def characters(self, ranges: Ranges) -> str:
        if not self.units:
            return classes.written(ranges)
        return replace(self, units=False).written(units_of(ranges))


def _in_units(node: Node, behind: bool) -> Node:
    """behind: a half of a whole pair is nothing by itself, as where Java looks for more than U+FFFF."""
    if isinstance(node, Characters):
        return units_of(node.ranges, behind)
    if isinstance(node, Edge | Reference):
        return node
    if isinstance(node, Sequence):
        return Sequence(tuple(_in_units(part, behind) for part in node.parts))
    if isinstance(node, Choice):
        return Choice(tuple(_in_units(option, behind) for option in node.options))
    return replace(node, body=_in_units(node.body, behind))


@lru_cache(maxsize=256)
def units_of(ranges: Ranges, behind: bool = False) -> Node:
    """A set as units: of a code point beyond U+FFFF its two; a half is one only without its other half."""
    below = classes.intersection(ranges, ((0, 0xFFFF),))
    options: list[Node] = []
    for low, high in classes.intersection(ranges, ((0x10000, classes.LAST),)):
        options += [
            Sequence((Characters(firsts), Characters(seconds)))
            for firsts, seconds in _pairs(low - 0x10000, high - 0x10000)
        ]
    halves = classes.intersection(below, _HIGH)
    if halves:
        options.append(Sequence((Characters(halves), Look(Characters(_LOW), ahead=True, negated=True))))
    whole = classes.intersection(below, classes.complement(_HIGH))
    seconds = classes.intersection(below, _LOW)
    if behind and seconds:
        whole = classes.intersection(whole, classes.complement(_LOW))
        options.append(Sequence((Look(Characters(_HIGH), ahead=False, negated=True), Characters(seconds))))
    if whole or not options:
        options.append(Characters(whole))
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _pairs(low: int, high: int) -> Iterator[tuple[Ranges, Ranges]]:
    """low to high, less 0x10000: as rectangles of first and second units."""
    while low <= high:
        row = low >> 10
        if low & 0x3FF or high >> 10 == row:  # part of a row
            end = min(high, row << 10 | 0x3FF)
            yield ((0xD800 + row,) * 2,), ((0xDC00 + (low & 0x3FF), 0xDC00 + (end & 0x3FF)),)
            low = end + 1
        else:
            last = high >> 10 if high & 0x3FF == 0x3FF else (high >> 10) - 1
            yield ((0xD800 + row, 0xD800 + last),), _LOW
            low = last + 1 << 10


def lengths(node: Node) -> dict[int, Node] | None:
    """By length, what together matches as the node does; None where they are too many, or captured."""
    if isinstance(node, Characters):
        return {1: node}
    if isinstance(node, Edge | Look):
        return {0: node}
    if isinstance(node, Sequence):
        found: dict[int, Node] | None = {0: Sequence(())}
        for part in node.parts:
            found = _beside(found, lengths(part))
        return found
    if isinstance(node, Choice):
        return _either([lengths(option) for option in node.options])
    if isinstance(node, Repeat):
        return _repeated(node)
    body = None if isinstance(node, Reference) else lengths(node.body)
    return dict.fromkeys(body, node) if body is not None and len(body) == 1 else None


def _repeated(node: Repeat) -> dict[int, Node] | None:
    if node.most is None or node.most > _MOST_LENGTHS:
        return None
    body, power, found = lengths(node.body), lengths(Sequence(())), []
    for times_more in range(node.most + 1):
        if times_more >= node.least:
            found.append(power)
        power = _beside(power, body)
    return _either(found)


def _beside(left: dict[int, Node] | None, right: dict[int, Node] | None) -> dict[int, Node] | None:
    if left is None or right is None or len(left) * len(right) > _MOST_LENGTHS:
        return None
    return _either([{m + n: Sequence((a, b))} for m, a in left.items() for n, b in right.items()])


def _either(options: list[dict[int, Node] | None]) -> dict[int, Node] | None:
    found: dict[int, list[Node]] = {}
    for option in options:
        if option is None:
            return None
        for length, node in option.items():
            found.setdefault(length, []).append(node)
    return {n: each[0] if len(each) == 1 else Choice(tuple(each)) for n, each in found.items()}


@lru_cache(maxsize=2)
def _word_edge(negated: bool) -> Node:
    """Between a character of a word and none, as Java 17 and 18 take it; as of 19 only ASCII is of words.

    A letter may carry marks, which are of the word, too.
    """
    letter = Characters(classes.union(category("L"), category("Nd")))
    mark, inner = Characters(category("Mn")), Characters(classes.union(letter.ranges, classes.of("_")))
    # Java looks for it unit by unit, and half a pair is no letter
    base = Characters(classes.intersection(letter.ranges, ((0, 0xFFFF),)))
    marked = [Sequence((base, *(mark,) * n)) for n in range(1, _MARKS + 1)]

    def either(*bodies: Node) -> Node:
        return Choice(tuple(Look(body, ahead=False, negated=False) for body in bodies))

    def no(node: Node) -> Node:
        return Look(node, ahead=True, negated=True)

    before = either(inner, *marked)
    after = Choice(
        (
            Look(inner, ahead=True, negated=False),
            Sequence((Look(mark, ahead=True, negated=False), either(base, *marked[:-1]))),
        )
    )
    if negated:
        return Choice((Sequence((before, after)), Sequence((no(before), no(after)))))
    return Choice((Sequence((before, no(after))), Sequence((no(before), after))))
