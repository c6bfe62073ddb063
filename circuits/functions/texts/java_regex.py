"""Java regular expressions as RE2 patterns of the same meaning, or the reason why there is none.

RE2 and java.util.regex both return the leftmost match that a backtracking search meets first, so patterns
carry over wherever their atoms agree. Atoms are rewritten as plain sets of code points. What RE2 lacks
(look-around, back-references, possessive quantifiers) or means differently (\\b in Unicode text, repetition
of what can be empty) is refused by name, and so is what Java itself rejects.

`$` of Java also matches before a final line terminator. RE2 can't look ahead, so the terminator is consumed,
which only a match's own text or a following match can show: see `Regex.dollar`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.functions.texts import character_classes as classes
from dbsp.circuits.functions.texts.character_classes import Ranges

_TERMINATOR = "(?:\\r\\n|" + classes.written(classes.LINE_ENDS) + ")?"
_DOT = classes.written(classes.complement(classes.LINE_ENDS))
_ANY = classes.written(((0, classes.LAST),))
_CONTROLS = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}
_MOST_REPEATS = 1000  # of RE2


class Refused(Exception):
    """The pattern has no RE2 equivalent; the message is the phrase that says why."""


@dataclass(frozen=True, slots=True)
class Regex:
    """tokens: text, or the number of the capturing group that opens there.

    dollar: '' without `$`; 'last' where it is the pattern's end at top level (then not in tokens);
    'inside' elsewhere. literal: the text that is all the pattern matches, if there is one.
    """

    tokens: tuple[str | int, ...]
    groups: int
    names: tuple[tuple[str, int], ...]
    can_be_empty: bool
    dollar: str
    literal: str | None

    def pattern(self, capture: int | None = None) -> str:
        """For RE2, with `capture` as the named group g (0: all of it) and no other group; None: no groups."""
        opened = (
            (token if isinstance(token, str) else "(?P<g>" if token == capture else "(?:")
            for token in self.tokens
        )
        body = "".join(opened)
        body = f"(?P<g>{body})" if capture == 0 else f"(?:{body})"
        return body + (_TERMINATOR + r"\z" if self.dollar == "last" else "")

    def capturing(self) -> str:
        """With all groups numbered; a `$` at the end captures the terminator as one more group."""
        body = "".join(token if isinstance(token, str) else "(" for token in self.tokens)
        return f"(?:{body})" + (f"({_TERMINATOR})\\z" if self.dollar == "last" else "")


@lru_cache(maxsize=256)
def translate(pattern: str) -> Regex:
    """Raises Refused."""
    parser = _Parser(pattern)
    regex = parser.parse()
    try:
        pc.match_substring_regex(pa.array([], pa.string()), regex.capturing())
    except pa.ArrowInvalid as error:
        raise Refused(f"the regular expression '{pattern}' ({error})") from error
    return regex


@dataclass(slots=True)
class _Parser:
    source: str
    at: int = 0
    groups: int = 0
    names: list[tuple[str, int]] = field(default_factory=list)
    out: list[str | int] = field(default_factory=list)
    ignore_case: bool = False
    dot_all: bool = False
    dollars: int = 0
    alternatives: int = 0

    def parse(self) -> Regex:
        empty, _ = self.alternation()
        if self.at < len(self.source):
            raise self.wrong("an unmatched )")
        tokens = tuple(self.out)
        dollar = "inside" if self.dollars else ""
        if self.dollars == 1 and not self.alternatives and tokens[-1] == _TERMINATOR + r"\z":
            dollar, tokens = "last", tokens[:-1]
        return Regex(tokens, self.groups, tuple(self.names), empty, dollar, self.literal())

    def literal(self) -> str | None:
        plain = re.sub(r"\\([^A-Za-z0-9])", "", self.source)
        if self.ignore_case or re.search(r"[\\^$.|?*+()\[\]{}]", plain):
            return None
        return re.sub(r"\\(.)", r"\1", self.source, flags=re.DOTALL)

    def wrong(self, what: str) -> Refused:
        return Refused(f"{what} in the regular expression '{self.source}'")

    def peek(self, length: int = 1) -> str:
        return self.source[self.at : self.at + length]

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise self.wrong("an unexpected end")
        self.at += 1
        return character

    def alternation(self) -> tuple[bool, bool]:
        """Whether it can match '' and whether it holds a `$`."""
        flags = self.ignore_case, self.dot_all
        empty, ends = self.sequence()
        while self.peek() == "|":
            self.take()
            self.alternatives += 1
            self.out.append("|")
            other, other_ends = self.sequence()
            empty, ends = empty or other, ends or other_ends
        self.ignore_case, self.dot_all = flags
        return empty, ends

    def sequence(self) -> tuple[bool, bool]:
        empty, ends = True, False
        while self.peek() not in ("", "|", ")"):
            if ends:
                raise self.wrong("something after $")
            start = len(self.out)
            item_empty, ends, is_atom = self.atom()
            if self.peek() and self.peek() in "?*+{":
                if not is_atom or ends:
                    raise self.wrong("a quantifier without an operand")
                item_empty = self.quantifier(start, item_empty)
            empty = empty and item_empty
        return empty, ends

    def quantifier(self, start: int, can_be_empty: bool) -> bool:
        kind = self.take()
        text, least, most = kind, 0, _MOST_REPEATS
        if kind == "{":
            found = re.compile(r"(\d+)(,(\d*))?\}").match(self.source, self.at)
            if found is None:
                raise self.wrong("an unescaped {")
            self.at = found.end()
            least = int(found[1])
            most = least if found[2] is None else int(found[3]) if found[3] else _MOST_REPEATS
            text = "{" + found[0]
            if max(least, int(found[3] or 0)) > _MOST_REPEATS or most < least:
                raise self.wrong(f"the repetition {text}")
        elif kind == "+":
            least = 1
        elif kind == "?":
            most = 1
        if can_be_empty and most > 1:
            raise self.wrong("the repetition of a part that can be empty")
        if self.peek() == "+":
            raise self.wrong("a possessive quantifier")
        if self.peek() == "?":
            text += self.take()
        if self.peek() and self.peek() in "*+?{":
            raise self.wrong("a quantifier without an operand")
        self.out.insert(start, "(?:")
        self.out.append(")" + text)
        return can_be_empty or least == 0

    def atom(self) -> tuple[bool, bool, bool]:
        """Can match '', holds a `$`, can be quantified."""
        character = self.take()
        if character == "(":
            return self.group()
        if character == "^":
            self.out.append(r"\A")
            return True, False, False
        if character == "$":
            return self.dollar()
        if character == ".":
            self.out.append(_ANY if self.dot_all else _DOT)
            return False, False, True
        if character == "[":
            return self.put(self.bracket())
        if character == "\\":
            return self.escape()
        if character in "?*+{":
            raise self.wrong(f"a dangling {character}")
        return self.put(self.fold(((ord(character), ord(character)),)))

    def put(self, ranges: Ranges) -> tuple[bool, bool, bool]:
        self.out.append(classes.written(ranges))
        return False, False, True

    def fold(self, ranges: Ranges) -> Ranges:
        return classes.both_cases(ranges) if self.ignore_case else ranges

    def dollar(self) -> tuple[bool, bool, bool]:
        self.dollars += 1
        self.out.append(_TERMINATOR + r"\z")
        return True, True, False

    def group(self) -> tuple[bool, bool, bool]:
        flags = self.ignore_case, self.dot_all
        if self.peek() != "?":
            self.groups += 1
            self.out.append(self.groups)
        else:
            self.take()
            named = re.compile(r"<([A-Za-z][A-Za-z0-9]*)>").match(self.source, self.at)
            if named is not None:
                self.at = named.end()
                self.groups += 1
                self.names.append((named[1], self.groups))
                self.out.append(self.groups)
            elif self.inline_flags():
                return True, False, False  # (?i): to the end of the enclosing group
            else:
                self.out.append("(?:")
        empty, ends = self.alternation()
        if self.peek() != ")":
            raise self.wrong("an unclosed (")
        self.take()
        self.ignore_case, self.dot_all = flags
        self.out.append(")")
        return empty, ends, True

    def inline_flags(self) -> bool:
        """Reads `(?flags)` (True) or `(?flags:` (False)."""
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])").match(self.source, self.at)
        if found is None:
            raise self.wrong("look-around or an atomic group")
        on, off = found[1], found[2] or ""
        if not set(on + off) <= {"i", "s"}:
            raise self.wrong(f"the flags (?{found[0]}")
        self.at = found.end()
        self.ignore_case = ("i" in on or self.ignore_case) and "i" not in off
        self.dot_all = ("s" in on or self.dot_all) and "s" not in off
        return found[3] == ")"

    def escape(self) -> tuple[bool, bool, bool]:
        """Behind a backslash outside brackets."""
        character = self.peek()
        if character in ("A", "z", "Z"):
            self.take()
            if character == "Z":
                return self.dollar()
            self.out.append("\\" + character)
            return True, False, False
        if character == "Q":
            self.take()
            end = self.source.find("\\E", self.at)
            quoted = self.source[self.at :] if end < 0 else self.source[self.at : end]
            self.at = len(self.source) if end < 0 else end + 2
            for each in quoted:
                self.put(self.fold(((ord(each), ord(each)),)))
            return not quoted, False, False
        return self.put(self.escaped_set())

    def escaped_set(self) -> Ranges:
        """The set that an escape stands for, in and outside brackets."""
        character = self.take()
        if character in classes.ESCAPES:
            return classes.ESCAPES[character]
        if character in "pP":
            found = re.compile(r"\{(\w+)\}").match(self.source, self.at)
            if found is None or found[1] not in classes.POSIX or self.ignore_case:
                raise self.wrong(f"the class \\{character}")
            self.at = found.end()
            ranges = classes.POSIX[found[1]]
            return classes.complement(ranges) if character == "P" else ranges
        code = self.escaped_code(character)
        return self.fold(((code, code),))

    def escaped_code(self, character: str) -> int:
        if character in _CONTROLS:
            return _CONTROLS[character]
        for prefix, form, base in (
            ("0", r"[0-3][0-7]{2}|[0-7]{1,2}", 8),
            ("x", r"[0-9a-fA-F]{2}|\{[0-9a-fA-F]{1,6}\}", 16),
            ("u", r"[0-9a-fA-F]{4}", 16),
        ):
            if character == prefix:
                found = re.compile(form).match(self.source, self.at)
                code = classes.LAST + 1 if found is None else int(found[0].strip("{}"), base)
                if found is None or code > classes.LAST or 0xD800 <= code < 0xE000:
                    raise self.wrong(f"the escape \\{character}")
                self.at = found.end()
                return code
        if character.isascii() and character.isalnum():
            what = "a back-reference" if character in "123456789k" else f"\\{character}"
            raise self.wrong(what)
        return ord(character)

    def bracket(self) -> Ranges:
        """Behind [: unions, ranges, nested classes, && and ^."""
        negated = self.peek() == "^"
        if negated:
            self.take()
        ranges: Ranges = ()
        first = True
        while first or self.peek() != "]":
            if self.peek(2) == "&&":
                raise self.wrong("the intersection &&")
            ranges = classes.union(ranges, self.bracket_item())
            first = False
        self.take()
        return classes.complement(ranges) if negated else ranges

    def bracket_item(self) -> Ranges:
        character = self.take()
        if character == "[":
            return self.bracket()
        if character == "\\":
            if self.peek() == "Q":
                raise self.wrong("\\Q inside brackets")
            ranges = self.escaped_set()
            if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
                is_single = self.ignore_case and self.source[self.at - 1].isalpha()
                if not is_single or self.peek() == "-":
                    return self.no_range(ranges)
                return ranges
            low = ranges[0][0]
        else:
            low = ord(character)
        if self.peek() != "-" or self.peek(2) in ("-]", "-["):
            return self.fold(((low, low),))
        self.take()
        character = self.take()
        if character == "\\":
            ranges = self.escaped_set()
            high = ranges[0][0] if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else -1
        else:
            high = ord(character)
        if high < low:
            raise self.wrong("an illegal character range")
        return self.fold(((low, high),))

    def no_range(self, ranges: Ranges) -> Ranges:
        """A class such as \\d, behind which a - is only itself before ]."""
        if self.peek() == "-" and self.peek(2) != "-]":
            raise self.wrong("an illegal character range")
        return ranges
