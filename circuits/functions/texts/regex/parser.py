r"""The syntax of java.util.regex, as a tree.

Flags are worked in where they hold: (?i) widens sets, (?s) chooses them, (?x) drops white space. Refused by
name and position is what Java itself rejects, and what RE2 has no form for: look-around, back-references,
what gives nothing back, edges of words and lines, classes of Unicode.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.nodes import (
    Anchor,
    Characters,
    Choice,
    Edge,
    Group,
    Node,
    Repeat,
    Sequence,
)
from dbsp.circuits.functions.texts.regex.sets import SetScanner

_ANCHORS: dict[str, Anchor] = {"A": "text begin", "z": "text end", "Z": "last line end"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """names: of groups, with their numbers."""

    tree: Node
    groups: int
    names: tuple[tuple[str, int], ...]


def parse(pattern: str) -> Parsed:
    """Raises Refused."""
    parser = _Parser(source=pattern)
    tree = parser.alternation()
    if parser.index < len(pattern):
        raise parser.wrong("an unmatched )")
    return Parsed(tree, parser.groups, tuple(parser.names.items()))


@dataclass(slots=True, kw_only=True)
class _Parser(SetScanner):
    groups: int = 0
    names: dict[str, int] = field(default_factory=dict)

    def alternation(self) -> Node:
        flags = self.flags
        options = [self.sequence()]
        while self.peek() == "|":
            self.take()
            options.append(self.sequence())
        self.flags = flags
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self) -> Node:
        parts: list[Node] = []
        self.skip()
        while self.peek() not in ("", "|", ")"):
            before = self.index
            node = self.atom()
            self.skip()
            if self.peek() and self.peek() in "?*+{":
                if node is None:
                    raise self.wrong(f"a quantifier of {self.source[before : self.index]}")
                node = self.quantified(node)
                self.skip()
            if node is not None:
                parts.append(node)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quantified(self, body: Node) -> Node:
        kind = self.take()
        least, most = {"?": (0, 1), "*": (0, None), "+": (1, None), "{": (0, 0)}[kind]
        if kind == "{":
            found = self.taken(r"(\d+)(,(\d*))?\}")
            if found is None:
                raise self.wrong("an unescaped {")
            least = int(found[1])
            most = least if found[2] is None else int(found[3]) if found[3] else None
            if max(least, most or 0) > 0x7FFFFFFF or (most is not None and most < least):
                raise self.wrong(f"the repetition {{{found[0]}")
        taste = self.take() if self.peek() == "?" else ""
        if self.peek() and self.peek() in "*+?{":
            raise self.wrong("a quantifier without an operand, or one that gives nothing back")
        if isinstance(body, Edge) and most != 0:  # once is as often as any number
            either = (Sequence(()), body) if taste == "?" else (body, Sequence(()))
            return body if least else Choice(either)
        return Repeat(body, least, most, taste)

    def atom(self) -> Node | None:
        """None for what stands for nothing, as (?i)."""
        character = self.take()
        if character == "(":
            return self.group()
        if character == "^":
            return Edge("text begin")
        if character == "$":
            return Edge("last line end")
        if character == ".":
            return Characters(classes.ALL if self.flags.s else classes.complement(classes.LINE_ENDS))
        if character == "[":
            return Characters(self.bracket())
        if character == "\\":
            return self.escape()
        if character in "?*+{":
            raise self.wrong(f"a dangling {character}")
        return self.one(ord(character))

    def group(self) -> Node | None:
        if self.peek() != "?":
            return self.capturing()
        self.take()
        named = self.taken(r"<([A-Za-z][A-Za-z0-9]*)>")
        if named is not None:
            if named[1] in self.names:
                raise self.wrong(f"a second group {named[1]}")
            self.names[named[1]] = self.groups + 1
            return self.capturing()
        if self.taken("<?[=!]|>"):
            raise self.wrong("look-around, or a group that gives nothing back,")
        before = self.flags
        if self.inline_flags():
            return None  # (?i): to the end of the enclosing group
        body = self.closing(self.alternation())
        self.flags = before
        return body

    def capturing(self) -> Group:
        self.groups += 1
        number = self.groups
        return Group(self.closing(self.alternation()), number)

    def closing(self, body: Node) -> Node:
        if self.peek() != ")":
            raise self.wrong("an unclosed (")
        self.take()
        return body

    def inline_flags(self) -> bool:
        """Reads `(?flags)` (True) or `(?flags:` (False)."""
        found = self.taken(r"([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
        if found is None:
            raise self.wrong("an unknown group (?")
        on, off = found[1], found[2] or ""
        if not set(on + off) <= set("isx"):
            raise self.wrong(f"the flags (?{found[0]}")
        self.flags = replace(self.flags, **dict.fromkeys(on, True), **dict.fromkeys(off, False))
        return found[3] == ")"

    def escape(self) -> Node | None:
        """Behind a backslash outside brackets."""
        character = self.peek()
        if character in _ANCHORS:
            self.take()
            return Edge(_ANCHORS[character])
        if character == "Q":
            self.take()
            return self.quoted()
        if character and character in "123456789kbBR":
            raise self.wrong(f"\\{character}")
        return Characters(self.escaped_set())

    def quoted(self) -> Node | None:
        r"""Behind \Q. A quantifier is of its last character."""
        end = self.source.find("\\E", self.index)
        text = self.source[self.index :] if end < 0 else self.source[self.index : end]
        self.index = len(self.source) if end < 0 else end + 2
        parts: list[Node] = [self.one(ord(each)) for each in text]
        if not parts:
            return None
        if self.peek() and self.peek() in "?*+{":
            parts[-1] = self.quantified(parts[-1])
        return Sequence(tuple(parts))
