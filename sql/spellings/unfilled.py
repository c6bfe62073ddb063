"""A program's text for others: what `${NAME}` stood for in settings of connections is `${NAME}` again.

A state directory keeps its program's text, so that its views can be read; who reads them connects to nothing.
What decides what a program means, or whether it is one, stays filled in.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Token, tokens

_LISTS = frozenset({"OPTIONS", "TBLPROPERTIES", "WITH"})
# of WITH all but this is read
_CONNECTS = frozenset({"schema_registry"})
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
    settings = list(_settings(tokens(source)))
    for i in filled:
        start, stop = source.starts[i], source.starts[i + 1]
        if any(token.start <= start and stop <= token.stop for token in settings):
            parts += [source.text[at:start], source.original[source.origins[i] : source.origins[i + 1]]]
            at = stop
    return "".join([*parts, source.text[at:]])


def _settings(found: list[Token]) -> Iterator[Token]:
    """The values of settings that nothing but a connection reads."""
    depth, entry, before, of = 0, list[Token](), "", ""
    for token in found:
        if not depth:
            depth, of = int(token.text == "(" and before in _LISTS), before
        elif token.text in ("(", ")", ","):
            yield from _value(entry, of)
            entry = []
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        else:
            entry.append(token)
        before = token.upper


def _value(entry: list[Token], of: str) -> list[Token]:
    """Of `key value` or `key = value`, unless the key is one that is read."""
    if len(entry) < 2:
        return []
    sign = next((n for n, token in enumerate(entry) if token.text == "="), len(entry) - 1)
    value = entry[sign:] if entry[sign].text != "=" else entry[sign + 1 :]
    key = "".join(token.text.strip("'\"`") for token in entry[:sign]).lower()
    read = key not in _CONNECTS if of == "WITH" else key in _READ or key.startswith(("value.", "key."))
    return [] if read else value
