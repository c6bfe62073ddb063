"""Whether a backtracking search may take exponential time.

It does where a repetition has two ways to match the same text in several iterations, and something behind it
can fail: then each way is tried, for each iteration. In the automaton of positions (Glushkov) of the
repetition, whose every position leads to every other, that is a pair of different positions which the same
text reaches from one position, and which the same text leads to one again; or two ways from one position to
the next. (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991: EDA.)

Conditions (look-around, edges) are taken to hold, a back-reference to match one character, and counts beyond
two to be two: an estimate. What is refused may be fast on all texts that come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.character_classes import Ranges
from dbsp.circuits.functions.texts.regex.nodes import (
    Atomic,
    Characters,
    Choice,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    children,
)

_COPIES = 2  # of the counted repetitions: as many show whatever more would


def is_exponential(node: Node, may_fail: bool = False) -> bool:
    """may_fail: whether something behind the node can fail to match."""
    if isinstance(node, Sequence):
        behind = [may_fail]
        for part in reversed(node.parts[1:]):
            behind.append(behind[-1] or not _always_matches(part))
        return any(map(is_exponential, node.parts, reversed(behind)))
    if isinstance(node, Repeat):
        gives_back = may_fail and node.taste != "+"
        return is_exponential(node.body, gives_back) or (
            gives_back and node.most is None and _Positions().is_ambiguous(node)
        )
    inside = may_fail and not isinstance(node, Atomic | Look)
    return any(is_exponential(child, inside) for child in children(node))


def _always_matches(node: Node) -> bool:
    if isinstance(node, Sequence):
        return all(map(_always_matches, node.parts))
    if isinstance(node, Choice):
        return any(map(_always_matches, node.options))
    if isinstance(node, Group | Atomic):
        return _always_matches(node.body)
    return isinstance(node, Repeat) and (not node.least or _always_matches(node.body))


@dataclass(frozen=True, slots=True)
class _Part:
    """first, last: positions where it can begin and end, and in how many ways; empty: the ways to be ''."""

    first: Counter[int]
    last: Counter[int]
    empty: int


@dataclass
class _Positions:
    sets: list[Ranges] = field(default_factory=list)
    follow: Counter[tuple[int, int]] = field(default_factory=Counter)
    taken: dict[int, Ranges] = field(default_factory=dict)  # by a++ all there is: none comes next

    def is_ambiguous(self, loop: Repeat) -> bool:
        self.part(loop)
        return any(ways > 1 for ways in self.follow.values()) or self._meets_again()

    def _meets_again(self) -> bool:
        count = len(self.sets)
        after: list[list[int]] = [[] for _ in range(count)]
        before: list[list[int]] = [[] for _ in range(count)]
        for p, q in self.follow:
            after[p].append(q)
            before[q].append(p)
        same = {(p, p) for p in range(count)}
        overlap = {
            (p, q)
            for p in range(count)
            for q in range(count)
            if classes.intersection(self.sets[p], self.sets[q])
        }
        apart = self._reached(same, after, overlap) & self._reached(same, before, overlap)
        return any(p != q for p, q in apart)

    def _reached(
        self, pairs: set[tuple[int, int]], onward: list[list[int]], overlap: set[tuple[int, int]]
    ) -> set[tuple[int, int]]:
        found, left = set(pairs), list(pairs)
        while left:
            p, q = left.pop()
            new = {(r, s) for r in onward[p] for s in onward[q] if (r, s) in overlap} - found
            found |= new
            left += new
        return found

    def part(self, node: Node) -> _Part:
        if isinstance(node, Characters | Reference):
            self.sets.append(node.ranges if isinstance(node, Characters) else classes.ALL)
            here = Counter([len(self.sets) - 1])
            return _Part(here, here, 0)
        if isinstance(node, Sequence):
            return self.sequence(map(self.part, node.parts))
        if isinstance(node, Choice):
            parts = [self.part(option) for option in node.options]
            return _Part(
                sum((p.first for p in parts), Counter()),
                sum((p.last for p in parts), Counter()),
                min(2, sum(p.empty for p in parts)),
            )
        if isinstance(node, Repeat):
            return self.repeat(node)
        if isinstance(node, Group | Atomic):
            return self.part(node.body)
        return _Part(Counter(), Counter(), 1)  # a condition

    def sequence(self, parts: Iterable[_Part]) -> _Part:
        whole = _Part(Counter(), Counter(), 1)
        for part in parts:
            self.link(whole.last, part.first)
            first = whole.first + _times(part.first, whole.empty)
            last = part.last + _times(whole.last, part.empty)
            whole = _Part(first, last, min(2, whole.empty * part.empty))
        return whole

    def repeat(self, node: Repeat) -> _Part:
        if node.most is None:
            parts = [self.part(node.body) for _ in range(min(node.least, _COPIES) or 1)]
            end = parts[-1]
            self.link(end.last, end.first)
            if node.taste == "+" and isinstance(node.body, Characters):
                self.taken |= dict.fromkeys(end.last, node.body.ranges)
            whole = self.sequence(parts)
            return whole if node.least else _Part(whole.first, whole.last, min(2, whole.empty + 1))
        least = min(node.least, _COPIES)
        optional = min(node.most - node.least, _COPIES)
        parts = [self.part(node.body) for _ in range(least)]
        rest = _Part(Counter(), Counter(), 1)
        for _ in range(optional):  # x? is nested: (x(x)?)?
            rest = self.sequence([self.part(node.body), rest])
            rest = _Part(rest.first, rest.last, min(2, rest.empty + 1))
        return self.sequence([*parts, rest])

    def link(self, last: Counter[int], first: Counter[int]) -> None:
        for p, ways in last.items():
            for q, more in first.items():
                if classes.intersection(self.sets[q], self.taken.get(p, ())) == self.sets[q]:
                    continue
                self.follow[p, q] += ways * more


def _times(positions: Counter[int], ways: int) -> Counter[int]:
    return Counter({p: n * ways for p, n in positions.items() if ways})
