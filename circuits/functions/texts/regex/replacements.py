r"""The replacement of regexp_replace, as Java reads it: $1, ${name}, and \ before what is only itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dbsp.circuits.functions.texts.regex.parser import Parsed
from dbsp.circuits.functions.texts.regex.scanner import Refused


@dataclass(frozen=True, slots=True)
class Replacement:
    """parts: text, or the number of a group."""

    parts: tuple[str | int, ...]

    def for_re2(self) -> str | None:
        r"""As RE2 spells it (\1); None where a tenth group is named."""
        if any(isinstance(part, int) and part > 9 for part in self.parts):
            return None
        return "".join(
            part.replace("\\", "\\\\") if isinstance(part, str) else f"\\{part}" for part in self.parts
        )


def read_replacement(text: str, parsed: Parsed) -> Replacement:
    """Raises Refused."""
    parts: list[str | int] = []
    names, index = dict(parsed.names), 0
    while index < len(text):
        character = text[index]
        index += 1
        if character == "\\":
            if index == len(text):
                raise Refused(f"the replacement '{text}', which ends with a backslash")
            parts.append(text[index])
            index += 1
        elif character == "$":
            named = re.compile(r"\{(\w+)\}").match(text, index)
            digit = re.compile(r"[0-9]").match(text, index)
            if named is not None and named[1] in names:
                number, index = names[named[1]], named.end()
            elif digit is not None and int(digit[0]) <= parsed.groups:
                number, index = int(digit[0]), digit.end()
                while index < len(text) and text[index] in "0123456789":
                    longer = number * 10 + int(text[index])
                    if longer > parsed.groups:
                        break
                    number, index = longer, index + 1
            else:
                raise Refused(f"the replacement '{text}', which names no group behind $")
            parts.append(number)
        else:
            parts.append(character)
    return Replacement(tuple(parts))
