"""The program's text with `${NAME}` filled in, still knowing each character's place in the user's file."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Mapping
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
            here = Source(name, text, text, (0,), (0,), (True,))
            raise here.error(match.start(), _undefined(variable, define or {}))
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
