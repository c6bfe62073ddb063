"""A window's name with a frame of its own, which Spark doesn't take: the definition stands in its place.

    SUM(x) OVER (w RANGE ...), SUM(x) OVER w (RANGE ...) ... WINDOW w AS (PARTITION BY ... ORDER BY ...)
    SUM(x) OVER (PARTITION BY ... ORDER BY ... RANGE ...)

A definition may have its order first: (ORDER BY ... PARTITION BY ... RANGE ...).
Source: Apache Calcite, "Streaming".
"""

from __future__ import annotations

from dbsp.sql.spellings.call_reader import CallReader
from dbsp.sql.spellings.rewriting import Edit
from dbsp.sql.text.tokens import Slice

_FRAMES = ("ROWS", "RANGE", "ORDER")


def with_definition(reader: CallReader, at: int) -> tuple[Edit | None, int]:
    """(the edit of what follows the OVER at a token, the token after it)."""
    inside = reader.tokens
    first = at + 1
    if inside[first].text == "(" and inside[at + 2].kind in ("word", "quoted"):
        name, frame = at + 2, at + 3
    elif inside[first].kind in ("word", "quoted") and inside[at + 2].text == "(":
        name, frame = first, at + 3
    else:
        return None, at + 1
    if inside[min(frame, len(inside) - 1)].upper not in _FRAMES:
        return None, at + 1
    defined = _definition(reader, inside[name].text)
    if defined is None:
        return None, at + 1
    _, after = reader.arguments(at if inside[first].text == "(" else first)
    text = reader.slice(*defined)
    return reader.replace(first, after, ["(", text, " ", reader.slice(frame, after - 1), ")"]), after


def in_sparks_order(reader: CallReader, at: int) -> tuple[Edit | None, int]:
    """(the edit of a window's definition that begins with the ORDER at a token, the token after it)."""
    inside = reader.tokens
    if at == 0 or inside[at - 1].text != "(":
        return None, at + 1
    _, after = reader.arguments(at - 2)
    depth, found = 0, {"PARTITION": after - 1, "ROWS": after - 1, "RANGE": after - 1}
    for i in range(at, after - 1):
        depth += (inside[i].text == "(") - (inside[i].text == ")")
        if depth == 0 and inside[i].upper in found:
            found[inside[i].upper] = min(found[inside[i].upper], i)
    partition, frame = found["PARTITION"], min(found["ROWS"], found["RANGE"])
    if not at < partition < frame or inside[partition + 1].upper != "BY":
        return None, at + 1
    parts: list[str | Slice] = [reader.slice(partition, frame), " ORDER BY ", reader.slice(at + 2, partition)]
    if frame < after - 1:
        parts += [" ", reader.slice(frame, after - 1)]
    return reader.replace(at, after - 1, parts), after - 1


def _definition(reader: CallReader, name: str) -> tuple[int, int] | None:
    """The tokens of `name AS (...)` behind WINDOW, within its parentheses."""
    inside, defining = reader.tokens, False
    for at in range(len(inside) - 2):
        defining |= inside[at].upper == "WINDOW"
        is_it = inside[at].text.strip("`").lower() == name.strip("`").lower()
        if defining and is_it and inside[at + 1].upper == "AS" and inside[at + 2].text == "(":
            _, after = reader.arguments(at + 1)
            return at + 3, after - 1
    return None
