r"""The syntax of java.util.regex, as a tree.

Flags are worked in where they hold: (?i) and (?u) widen sets, (?s), (?m) and (?d) choose sets and anchors,
(?x) drops white space. Refused by name and position is what Java itself rejects, and what has no form in
`re`: \G, \X, \N{…}, \b{g}, the flag (?U), scripts, blocks and binary properties of Unicode.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.nodes import (
    Anchor,
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
    can_be_empty,
    empty_is_last,
    uncertain_groups,
    walk,
)
from dbsp.circuits.functions.texts.regex.sets import SetScanner

_ANCHORS: dict[str, Anchor] = {"A": "text begin", "z": "text end", "b": "word edge", "B": "no word edge"}
_WORDS = ("word edge", "no word edge")
_LOOKS = {"=": (True, False), "!": (True, True), "<=": (False, False), "<!": (False, True)}
LINE_END = Choice(
    (
        Sequence((Characters(((13, 13),)), Characters(((10, 10),)))),
        Characters(classes.VERTICAL),
    )
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """names: of groups, with their numbers. uncertain: those whose text isn't known to be Java's.

    beyond: whether a set in it is of more than U+FFFF to Java, which then never begins between the halves of
    a pair by itself. has_words: whether it asks for the edges of words.
    """

    tree: Node
    groups: int
    names: tuple[tuple[str, int], ...]
    uncertain: frozenset[int]
    beyond: bool
    has_words: bool


def parse(pattern: str) -> Parsed:
    """Raises Refused."""
    parser = _Parser(source=pattern, all_groups=_count_groups(pattern))
    tree = parser.alternation()
    if parser.index < len(pattern):
        raise parser.wrong("an unmatched )")
    nodes = list(walk(tree))
    uncertain = uncertain_groups(tree)
    if any(isinstance(node, Reference) and node.group in uncertain for node in nodes):
        raise parser.wrong(
            "a back-reference to a group that a failed attempt or an empty iteration may have filled"
        )
    return Parsed(
        tree,
        parser.groups,
        tuple(parser.names.items()),
        uncertain,
        parser.beyond,
        any(isinstance(node, Edge) and node.anchor in _WORDS for node in nodes),
    )


def _count_groups(pattern: str) -> int:
    """Of the whole pattern; a back-reference's digits are read by the groups that opened before it."""
    return pattern.count("(")


@dataclass(slots=True, kw_only=True)
class _Parser(SetScanner):
    all_groups: int
    groups: int = 0
    closed: set[int] = field(default_factory=set)
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
        taste = self.take() if self.peek() and self.peek() in "?+" else ""
        if self.peek() and self.peek() in "*+?{":
            raise self.wrong("a quantifier without an operand")
        if isinstance(body, Edge | Look) and most != 0:  # once is as often as any number
            either = (Sequence(()), body) if taste == "?" else (body, Sequence(()))
            return body if least else Choice(either)
        if body is LINE_END:  # Java doesn't take \r\n apart there
            return Repeat(Atomic(body), least, most, taste)
        if most != 1 and any(each is LINE_END for each in walk(body)):
            raise self.wrong("\\R in what is repeated")
        if most != 1 and can_be_empty(body) and not empty_is_last(body):
            raise self.wrong(
                "the repetition of what is rather empty"
            )  # Java counts such iterations its own way
        return Repeat(body, least, most, taste)

    def atom(self) -> Node | None:
        """None for what stands for nothing, as (?i)."""
        character = self.take()
        if character == "(":
            return self.group()
        if character == "^":
            if self.flags.m:
                return Edge("unix line begin" if self.flags.d else "line begin")
            return Edge("text begin")
        if character == "$":
            return self.dollar(self.flags.m)
        if character == ".":
            ends = classes.of("\n") if self.flags.d else classes.LINE_ENDS
            return Characters(classes.ALL if self.flags.s else classes.complement(ends))
        if character == "[":
            return self.set(self.bracket())
        if character == "\\":
            return self.escape()
        if character in "?*+{":
            raise self.wrong(f"a dangling {character}")
        return self.one(ord(character))

    def dollar(self, every_line: bool) -> Edge:
        if every_line:
            return Edge("unix line end" if self.flags.d else "line end")
        return Edge("last unix line end" if self.flags.d else "last line end")

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
        if self.taken(">"):
            return Atomic(self.closing(self.alternation()))
        look = self.taken("<?[=!]")
        if look is not None:
            ahead, negated = _LOOKS[look[0]]
            return Look(self.closing(self.alternation()), ahead, negated)
        before = self.flags
        if self.inline_flags():
            return None  # (?i): to the end of the enclosing group
        body = self.closing(self.alternation())
        self.flags = before
        return body

    def capturing(self) -> Group:
        self.groups += 1
        number = self.groups
        body = self.closing(self.alternation())
        self.closed.add(number)
        return Group(body, number)

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
        if not set(on + off) <= set("iusmdx"):
            raise self.wrong(f"the flags (?{found[0]}")
        self.flags = replace(self.flags, **dict.fromkeys(on, True), **dict.fromkeys(off, False))
        return found[3] == ")"

    def escape(self) -> Node | None:
        """Behind a backslash outside brackets."""
        character = self.peek()
        if character in _ANCHORS:
            self.take()
            if self.peek() == "{":
                raise self.wrong(f"\\{character}{{")
            return Edge(_ANCHORS[character])
        if character == "Z":
            self.take()
            return self.dollar(every_line=False)
        if character == "R":
            self.take()
            return LINE_END
        if character == "Q":
            self.take()
            return self.quoted()
        if character and character in "123456789k":
            return self.reference()
        return self.set(self.escaped_set())

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

    def reference(self) -> Node:
        r"""\1 or \k<name>: further digits belong to it as long as there is such a group."""
        if self.take() == "k":
            named = self.taken(r"<([A-Za-z][A-Za-z0-9]*)>")
            if named is None or named[1] not in self.names:
                raise self.wrong("a back-reference to no group")
            number = self.names[named[1]]
        else:
            number = int(self.source[self.index - 1])
            while self.peek().isdecimal() and number * 10 + int(self.peek()) <= self.groups:
                number = number * 10 + int(self.take())
        if number <= self.groups and number not in self.closed:
            raise self.wrong("a back-reference inside its own group")
        if number > self.groups and number <= self.all_groups:
            raise self.wrong("a back-reference to a group behind it")
        if self.flags.i and self.flags.u:
            raise self.wrong("a back-reference under (?iu)")
        return Reference(number, number <= self.groups, self.flags.i)
