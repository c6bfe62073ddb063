"""What no log and no trace may have: values that are secret by their names, passwords within URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

STARS = "***"
# not PWD, which is where a process works
_NAMED = re.compile(r"token|secret|passw|_pwd|credential|private|_key$|api_?key|access_?key", re.IGNORECASE)
# scheme://user:password@host
_IN_URL = re.compile(r"(://[^/\s:@]*):[^\s'\"]+@")
# password=..., "token": "...", Authorization: Bearer ...
_GIVEN = re.compile(
    r"""((?:[\w.-]*(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key)[\w.-]*)["']?\s*[=:]\s*["']?"""
    r"""|\bbearer\s+)([^\s"'&;,)}]+)""",
    re.IGNORECASE,
)
# shorter ones are words, and would be starred wherever they stand
_LEAST = 6


class Secrets:
    """Of the process' environment, and of what else it is told of."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self.add(os.environ)

    def add(self, named: Mapping[str, str]) -> None:
        """Remember the values whose names say that they are secret."""
        found = (value for name, value in named.items() if _NAMED.search(name))
        self._values |= {value for value in found if len(value) >= _LEAST}

    def hidden(self, text: str) -> str:
        """The text with stars in the place of what is secret."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, STARS)
        return _GIVEN.sub(rf"\1{STARS}", _IN_URL.sub(rf"\1:{STARS}@", text))
