r"""The syntax of java.util.regex, as a tree.

Flags are worked in where they hold: (?i) and (?u) widen sets, (?s), (?m) and (?d) choose sets and anchors,
(?x) drops white space. Refused by name and position is what Java itself rejects, and what has no form in
`re`: \G, \X, \N{…}, \b{g}, the flag (?U), scripts, blocks and binary properties of Unicode.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.character_classes import Ranges
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
    uncertain_groups,
    walk,
)
from dbsp.circuits.functions.texts.regex.unicode_classes import property_ranges

_CONTROLS = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}
_ANCHORS: dict[str, Anchor] = {"A": "text begin", "z": "text end", "b": "word edge", "B": "no word edge"}
_WORDS = ("word edge", "no word edge")
_LOOKS = {"=": (True, False), "!": (True, True), "<=": (False, False), "<!": (False, True)}
LINE_END = Choice(
    (
        Sequence((Characters(((13, 13),)), Characters(((10, 10),)))),
        Characters(classes.VERTICAL),
    )
)


class Refused(Exception):
    """The pattern can't be matched as Java would; the message is the phrase that says why."""


@dataclass(frozen=True, slots=True)
class Flags:
    i: bool = False
    u: bool = False
    s: bool = False
    m: bool = False
    d: bool = False
    x: bool = False


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
    parser = _Parser(pattern, all_groups=_count_groups(pattern))
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


@dataclass(slots=True)
class _Parser:
    source: str
    all_groups: int
    index: int = 0
    groups: int = 0
    closed: set[int] = field(default_factory=set)
    names: dict[str, int] = field(default_factory=dict)
    flags: Flags = Flags()
    beyond: bool = False

    def wrong(self, what: str) -> Refused:
        return Refused(f"{what} in the regular expression '{self.source}', before character {self.index + 1}")

    def peek(self, length: int = 1) -> str:
        return self.source[self.index : self.index + length]

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise self.wrong("an unexpected end")
        self.index += 1
        return character

    def taken(self, form: str) -> re.Match[str] | None:
        """What follows in that form."""
        found = re.compile(form).match(self.source, self.index)
        if found is not None:
            self.index = found.end()
        return found

    def skip(self) -> None:
        """White space and comments of (?x)."""
        while self.flags.x and self.taken(r"[ \t-\r]|#[^\n\r\u0085\u2028\u2029]*"):
            pass

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

    def one(self, code: int) -> Characters:
        return self.set(self.folded(((code, code),)))

    def set(self, ranges: Ranges) -> Characters:
        """Java notes of each but the dot whether it may be beyond U+FFFF."""
        self.beyond |= bool(ranges) and ranges[-1][1] > 0xFFFF
        return Characters(ranges)

    def folded(self, ranges: Ranges) -> Ranges:
        if not self.flags.i:
            return ranges
        if not self.flags.u:
            return classes.both_cases(ranges)
        folded = classes.every_case(ranges)
        self.beyond |= folded != ranges or ranges[0][0] != ranges[0][1]
        return folded

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

    def escaped_set(self) -> Ranges:
        """The set that an escape stands for, in and outside brackets."""
        character = self.take()
        if character in classes.ESCAPES:
            return classes.ESCAPES[character]
        if character in "pP":
            return self.property(negated=character == "P")
        code = self.escaped_code(character)
        return self.folded(((code, code),))

    def property(self, negated: bool) -> Ranges:
        found = self.taken(r"\{([\w=]+)\}|(\w)")
        name = "" if found is None else found[1] or found[2]
        ranges = property_ranges(name)
        self.beyond |= name not in classes.POSIX  # to Java, whatever it holds
        if ranges is None:
            raise self.wrong(f"the class \\{'P' if negated else 'p'}{{{name}}}")
        if self.flags.i and name.removeprefix("Is") in (
            "Lower",
            "Upper",
            "Lu",
            "Ll",
            "Lt",
            "Lowercase",
            "Uppercase",
        ):
            raise self.wrong(f"the class \\p{{{name}}} under (?i)")
        return classes.complement(ranges) if negated else ranges

    def escaped_code(self, character: str) -> int:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "c":
            return ord(self.take()) ^ 64
        for prefix, form, base in (
            ("0", r"[0-3][0-7]{2}|[0-7]{1,2}", 8),
            ("x", r"[0-9a-fA-F]{2}|\{[0-9a-fA-F]{1,6}\}", 16),
            ("u", r"[0-9a-fA-F]{4}", 16),
        ):
            if character == prefix:
                found = self.taken(form)
                code = classes.LAST + 1 if found is None else int(found[0].strip("{}"), base)
                if found is None or code > classes.LAST or 0xD800 <= code < 0xE000:
                    raise self.wrong(f"the escape \\{character}")
                return code
        if character.isascii() and character.isalnum():
            raise self.wrong(f"\\{character}")
        return ord(character)

    def bracket(self) -> Ranges:
        """Behind [: ^ is of all of it, && binds less than what stands side by side."""
        negated = self.peek() == "^"
        if negated:
            self.take()
        ranges = self.operand(first=True)
        while self.peek(2) == "&&":
            self.index += 2
            ranges = classes.intersection(ranges, self.operand(first=False))
        self.take()
        self.beyond |= negated
        return classes.complement(ranges) if negated else ranges

    def operand(self, first: bool) -> Ranges:
        """A union, up to ] or &&."""
        ranges: Ranges | None = None
        self.skip()
        while (first and ranges is None) or (self.peek() != "]" and self.peek(2) != "&&"):
            if self.peek(2) == "&&":
                break
            item = self.bracket_item()
            ranges = item if ranges is None else classes.union(ranges, item)
            self.skip()
        if ranges is None:
            raise self.wrong("an intersection && without an operand")
        return ranges

    def bracket_item(self) -> Ranges:
        character = self.take()
        if character == "[":
            return self.bracket()
        if character == "\\":
            if self.peek() == "Q":
                raise self.wrong("\\Q inside brackets")
            start = self.index
            ranges = self.escaped_set()
            if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
                is_single = (
                    self.flags.i
                    and self.source[start] not in "pP"
                    and self.source[start].lower() not in "dwshv"
                )
                if not is_single or self.peek() == "-":
                    return self.no_range(ranges)
                return ranges
            low = ranges[0][0]
        else:
            low = ord(character)
        if self.peek() != "-" or self.peek(2) in ("-]", "-["):
            return self.folded(((low, low),))
        self.take()
        character = self.take()
        if character == "\\":
            ranges = self.escaped_set()
            high = ranges[0][0] if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else -1
        else:
            high = ord(character)
        if high < low:
            raise self.wrong("an illegal character range")
        return self.folded(((low, high),))

    def no_range(self, ranges: Ranges) -> Ranges:
        """A class such as \\d, behind which a - is only itself before ]."""
        if self.peek() == "-" and self.peek(2) != "-]":
            raise self.wrong("an illegal character range")
        return ranges
