"""A pattern as it is read: where, under which flags, and what is wrong there."""

from __future__ import annotations

import re
from dataclasses import dataclass


class Refused(Exception):
    """RE2 can't match the pattern as Java would; the message is the phrase that says why."""


@dataclass(frozen=True, slots=True)
class Flags:
    i: bool = False
    s: bool = False
    x: bool = False


@dataclass(slots=True, kw_only=True)
class Scanner:
    """index: of the next character."""

    source: str
    index: int = 0
    flags: Flags = Flags()

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
