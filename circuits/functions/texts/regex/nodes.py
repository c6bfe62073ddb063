"""What a regular expression of Java's is: a tree over sets of code points.

Flags are no part of it: the parser has worked them into sets and anchors. A node is a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dbsp.circuits.functions.texts.regex.character_classes import Ranges

Anchor: TypeAlias = Literal[
    "text begin",  # \A, and ^ without (?m)
    "text end",  # \z
    "last line end",  # \Z, and $ without (?m)
    "line begin",
    "line end",
    "last unix line end",  # of (?d)
    "unix line begin",
    "unix line end",
    "word edge",  # \b
    "no word edge",
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
    """most: None without an end. taste: how many it tries first, '' many, '?' few; '+' gives none back."""

    body: Node
    least: int
    most: int | None
    taste: str


@dataclass(frozen=True, slots=True)
class Group:
    """Captures, as the group of that number."""

    body: Node
    number: int


@dataclass(frozen=True, slots=True)
class Atomic:
    """The first match of the body, and no other."""

    body: Node


@dataclass(frozen=True, slots=True)
class Look:
    body: Node
    ahead: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """What a group has captured; no match where there is no such group."""

    group: int
    exists: bool
    ignore_case: bool


Node: TypeAlias = Characters | Edge | Sequence | Choice | Repeat | Group | Atomic | Look | Reference


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Sequence):
        return node.parts
    if isinstance(node, Choice):
        return node.options
    return () if isinstance(node, Characters | Edge | Reference) else (node.body,)


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from walk(child)


def can_be_empty(node: Node) -> bool:
    """Whether it can match ''; of a back-reference always."""
    if isinstance(node, Characters):
        return False
    if isinstance(node, Sequence):
        return all(map(can_be_empty, node.parts))
    if isinstance(node, Choice):
        return any(map(can_be_empty, node.options))
    if isinstance(node, Repeat):
        return not node.least or can_be_empty(node.body)
    return can_be_empty(node.body) if isinstance(node, Group | Atomic) else True


def literal(node: Node) -> str | None:
    """The text that is all it matches, if there is one."""
    if isinstance(node, Characters):
        ranges = node.ranges
        return chr(ranges[0][0]) if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else None
    if isinstance(node, Sequence):
        parts = [literal(part) for part in node.parts]
        return None if None in parts else "".join(filter(None, parts))
    return None


def uncertain_groups(node: Node, optional: bool = False, is_final: bool = False) -> frozenset[int]:
    """Groups that engines fill differently: in negated look-around, in iterations that may be empty, and in
    what gives nothing back where the match may do without it: Java then leaves what was captured.

    optional: whether the node is an option of several, or repeated. is_final: whether it is in what gives
    nothing back.
    """
    is_lost = (isinstance(node, Atomic | Look) and optional) or (isinstance(node, Choice) and is_final)
    if isinstance(node, Repeat):
        is_lost = is_final or node.taste == "+" or (node.most != 1 and can_be_empty(node.body))
    if is_lost or (isinstance(node, Look) and node.negated):
        return frozenset(each.number for each in walk(node) if isinstance(each, Group))
    optional |= isinstance(node, Choice | Repeat)
    is_final |= isinstance(node, Atomic | Look)
    return frozenset().union(*(uncertain_groups(child, optional, is_final) for child in children(node)))
