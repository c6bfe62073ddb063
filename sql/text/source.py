"""The program's text with `${NAME}` filled in, still knowing each character's place in the user's file."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbsp.circuits.errors import ProgramError

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_COMMENT_OR_STRING = re.compile(
    r"""\$\$.*?\$\$ | --[^\n]* | /\*.*?\*/ | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | \$\{[^}]*\}""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Source:
    """text: what is compiled. original: what the user wrote. starts, origins: text[starts[i]:] begins at
    original[origins[i]:]; where exact[i] is false the piece is a substituted value, whose place is the `${`.
    """

    name: str
    text: str
    original: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    exact: tuple[bool, ...]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, in the user's file of text[offset]."""
        piece = bisect_right(self.starts, offset) - 1
        origin = self.origins[piece] + (offset - self.starts[piece] if self.exact[piece] else 0)
        origin = min(origin, len(self.original))
        line_start = self.original.rfind("\n", 0, origin) + 1
        return self.original.count("\n", 0, origin) + 1, origin - line_start + 1

    def location(self, offset: int) -> str:
        line, column = self.position(offset)
        return f"{self.name}:{line}:{column}"

    def error(self, offset: int, message: str) -> ProgramError:
        return ProgramError(f"{self.location(offset)}: {message}")

    def replaced(self, edits: Sequence[tuple[int, int, str, int]]) -> Source:
        """With text[start:stop] replaced, for each (start, stop, text, the place that it stands for).

        edits: in order, none within another.
        """
        parts: list[str] = []
        starts, origins, exact = list[int](), list[int](), list[bool]()
        length = at = 0

        def keep(stop: int) -> None:
            """text[at:stop], piece by piece."""
            nonlocal length, at
            while at < stop:
                piece = bisect_right(self.starts, at) - 1
                end = min(stop, *self.starts[piece + 1 : piece + 2], stop)
                inside = at - self.starts[piece] if self.exact[piece] else 0
                starts.append(length)
                origins.append(self.origins[piece] + inside)
                exact.append(self.exact[piece])
                parts.append(self.text[at:end])
                length, at = length + end - at, end

        for start, stop, text, place in edits:
            keep(start)
            piece = bisect_right(self.starts, place) - 1
            starts.append(length)
            origins.append(self.origins[piece] + (place - self.starts[piece] if self.exact[piece] else 0))
            exact.append(False)
            parts.append(text)
            length, at = length + len(text), stop
        keep(len(self.text))
        # so that what stands at the end has a place of its own
        starts.append(length)
        origins.append(len(self.original))
        exact.append(True)
        return Source(self.name, "".join(parts), self.original, tuple(starts), tuple(origins), tuple(exact))


def as_it_is(text: str, name: str) -> Source:
    """A text without anything to substitute."""
    return Source(name, text, text, (0,), (0,), (True,))


def read(text: str, name: str, define: Mapping[str, str] | None = None) -> Source:
    """Substitute `${NAME}`, outside of comments and of $$ ... $$, from `define`, then the environment.

    Raises ProgramError for a name neither has.
    """
    known = {**os.environ, **(define or {})}
    pieces: list[str] = []
    starts, origins, exact = [0], [0], [True]
    length = done = 0
    for match in _variables(text):
        variable = match[1].strip()
        if variable not in known:
            raise as_it_is(text, name).error(match.start(), _undefined(variable, define or {}))
        value = known[variable]
        pieces += [text[done : match.start()], value]
        length += match.start() - done
        starts += [length, length + len(value)]
        origins += [match.start(), match.end()]
        exact += [False, True]
        length += len(value)
        done = match.end()
    pieces.append(text[done:])
    return Source(name, "".join(pieces), text, tuple(starts), tuple(origins), tuple(exact))


def _variables(text: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    for match in _COMMENT_OR_STRING.finditer(text):
        if not match[0].startswith(("--", "/*", "$$")):
            found += _VARIABLE.finditer(text, match.start(), match.end())
    return found


def _undefined(variable: str, define: Mapping[str, str]) -> str:
    defined = ", ".join(sorted(define)) or "nothing"
    cure = f"use --define {variable}=VALUE or the environment"
    return f"${{{variable}}} is not defined; defined: {defined}; {cure}"
