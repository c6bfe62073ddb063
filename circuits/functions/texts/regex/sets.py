r"""The sets of characters in a pattern: \d, \p{Alpha}, [a-z&&[^q]], and single ones by their escapes."""

from __future__ import annotations

from dbsp.circuits.functions.texts.regex import character_classes as classes
from dbsp.circuits.functions.texts.regex.character_classes import Ranges
from dbsp.circuits.functions.texts.regex.nodes import Characters
from dbsp.circuits.functions.texts.regex.scanner import Scanner

_CONTROLS = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}


class SetScanner(Scanner):
    """Reads sets under the flags that hold where they stand."""

    __slots__ = ()

    def one(self, code: int) -> Characters:
        return Characters(self.folded(((code, code),)))

    def folded(self, ranges: Ranges) -> Ranges:
        return classes.both_cases(ranges) if self.flags.i else ranges

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
        """POSIX's, over ASCII: Unicode's are those of the Unicode that Java has."""
        found = self.taken(r"\{([\w=]+)\}|(\w)")
        name = "" if found is None else found[1] or found[2]
        if name not in classes.POSIX or (self.flags.i and name in ("Lower", "Upper")):
            raise self.wrong(f"the class \\{'P' if negated else 'p'}{{{name}}}")
        ranges = classes.POSIX[name]
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
