"""What a regular expression of Java's is, where RE2 may have a form of it: a tree over sets of code points.

Flags are no part of it: the parser has worked them into sets and anchors. A node is a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dbsp.circuits.functions.texts.regex.character_classes import Ranges

Anchor: TypeAlias = Literal[
    "text begin",  # \A, and ^
    "text end",  # \z
    "last line end",  # \Z, and $
]


@dataclass(frozen=True, slots=True)
class Characters:
    """One code point of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Edge:
    """A condition on the position."""

    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first option that leads to a match."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """most: None without an end. taste: how many it tries first, '' many, '?' few."""

    body: Node
    least: int
    most: int | None
    taste: str


@dataclass(frozen=True, slots=True)
class Group:
    """Captures, as the group of that number."""

    body: Node
    number: int


Node: TypeAlias = Characters | Edge | Sequence | Choice | Repeat | Group


def can_be_empty(node: Node) -> bool:
    """Whether it can match ''."""
    if isinstance(node, Characters):
        return False
    if isinstance(node, Sequence):
        return all(map(can_be_empty, node.parts))
    if isinstance(node, Choice):
        return any(map(can_be_empty, node.options))
    if isinstance(node, Repeat):
        return not node.least or can_be_empty(node.body)
    return isinstance(node, Edge) or can_be_empty(node.body)


def literal(node: Node) -> str | None:
    """The text that is all it matches, if there is one."""
    if isinstance(node, Characters):
        ranges = node.ranges
        return chr(ranges[0][0]) if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else None
    if isinstance(node, Sequence):
        parts = [literal(part) for part in node.parts]
        return None if None in parts else "".join(filter(None, parts))
    return None
