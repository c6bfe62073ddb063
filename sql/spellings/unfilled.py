"""A program's text for others: what `${NAME}` stood for in settings of connections is `${NAME}` again.

A state directory keeps its program's text, so that its views can be read; who reads them connects to nothing.
What decides what a program means, or whether it is one, stays filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Token, tokens

_LISTS = frozenset({"OPTIONS", "TBLPROPERTIES", "WITH"})
# of WITH all but this is read
CONNECTS = frozenset({"schema_registry"})
# of OPTIONS these are, and what is of a message's value or key (`value.schema`)
_READ = frozenset(
    {"path", "mode", "header", "enforceschema", "multiline", "latestfirst", "readchangefeed", "mergeschema"}
    | {"maxfilespertrigger", "maxbytespertrigger", "columnnameofcorruptrecord"}
)


def unfilled(source: Source) -> str:
    """The text with `${NAME}` in the places of what it stood for. Raises ProgramError."""
    filled = [i for i, is_exact in enumerate(source.exact) if not is_exact]
    if not filled:
        return source.text
    parts, at = [], 0
    connecting = [token for one in settings(tokens(source)) if not _is_read(one) for token in one.value]
    for i in filled:
        start, stop = source.starts[i], source.starts[i + 1]
        if any(token.start <= start and stop <= token.stop for token in connecting):
            parts += [source.text[at:start], source.original[source.origins[i] : source.origins[i + 1]]]
            at = stop
    return "".join([*parts, source.text[at:]])


@dataclass(frozen=True)
class Setting:
    """An entry of OPTIONS, TBLPROPERTIES or WITH, which is `of`. key: in lower case. value: its tokens."""

    of: str
    key: str
    value: list[Token]


def settings(found: Sequence[Token]) -> Iterator[Setting]:
    """Of statements, in their order: `key value`, or `key = value`."""
    depth, entry, before, of = 0, list[Token](), "", ""
    for token in found:
        if not depth:
            depth, of = int(token.text == "(" and before in _LISTS), before
        elif token.text in ("(", ")", ","):
            if len(entry) > 1:  # not a call of something of that name
                yield _setting(entry, of)
            entry = []
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        else:
            entry.append(token)
        before = token.upper


def _setting(entry: list[Token], of: str) -> Setting:
    sign = next((n for n, token in enumerate(entry) if token.text == "="), None)
    cut = len(entry) - 1 if sign is None else sign
    key = "".join(token.text.strip("'\"`") for token in entry[:cut]).lower()
    return Setting(of, key, entry[cut if sign is None else cut + 1 :])


def _is_read(one: Setting) -> bool:
    """Whether it decides what a program means, or whether it is one."""
    if one.of == "WITH":
        return one.key not in CONNECTS
    return one.key in _READ or one.key.startswith(("value.", "key."))
