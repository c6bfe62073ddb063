"""Programs that nobody would write: tokens dropped, doubled, exchanged, and what they mean made extreme."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from dbsp.sql.text.source import read
from dbsp.sql.text.tokens import Token, tokens
from tests.papers.cases import cases

ROOT = Path(__file__).parents[2]
_EXTREMES = (
    "NULL", "0", "-1", "''", "9223372036854775807", "2147483648", "1e308", "1.5", "'é'", "true",
    "DATE '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59'", "INTERVAL '-1' DAY", "array(1, NULL)",
    "named_struct('a', 1)", "X'FF'",
)  # fmt: skip
_WRAPPERS = (
    "upper({})", "coalesce({}, NULL)", "CAST({} AS STRING)", "CAST({} AS INT)", "array({})", "abs({})", "-{}",
    "struct({})", "(SELECT {})", "1 / {}", "sum({})", "max({}) OVER ()", "CASE WHEN {} IS NULL THEN 1 END",
    "named_struct('x', {}).x", "{} IN (NULL, 1)", "count(DISTINCT {})", "DISTINCT {}",
    "NOT {}", "try_divide(1, {})",
)  # fmt: skip
_WORDS = (
    "NULL", "DISTINCT", "NOT", "ALL", "LEFT", "FULL", "CROSS", "UNION", "INTERSECT", "EXCEPT", "LIMIT 1",
    "OFFSET 1",     "ORDER BY 1", "GROUP BY ALL", "HAVING true", "WHERE false", "OVER ()", "*", "EXISTS",
    "LATERAL", "FILTER (WHERE true)",
)  # fmt: skip


def programs_of_the_tree() -> list[str]:
    """The examples', and those of the notes' cases."""
    examples = [path.read_text() for path in sorted((ROOT / "examples").glob("*/program.sql"))]
    notes = [case.text("program") for path in sorted((ROOT / "papers").glob("*.md")) for case in cases(path)]
    return examples + notes


def mutated(text: str, choose: random.Random, others: Sequence[str] = ()) -> str:
    """The text after one to three changes. others: texts whose tokens may come in."""
    for _ in range(choose.choice((1, 1, 2, 3))):
        text = _changed(text, choose, others)
    return text


def _changed(text: str, choose: random.Random, others: Sequence[str]) -> str:
    found = _tokens(text)
    if len(found) < 2:
        return text
    token = choose.choice(found)
    values = [t for t in found if t.kind in ("number", "string")] or [token]
    words = [t for t in found if t.kind == "word"] or [token]
    match choose.randrange(8):
        case 0:
            return _with(text, token, "")
        case 1:
            return _with(text, token, f"{token.text} {token.text}")
        case 2:
            other = choose.choice(found)
            first, second = sorted((token, other), key=lambda t: t.start)
            return _with(_with(text, second, first.text), first, second.text)
        case 3:
            return _with(text, choose.choice(values), choose.choice(_EXTREMES))
        case 4:
            one = choose.choice([*words, *values])
            return _with(text, one, choose.choice(_WRAPPERS).format(one.text))
        case 5:
            return _with(text, choose.choice(words), choose.choice(words).text)
        case 6:
            return _with(text, token, f"{token.text} {choose.choice(_WORDS)}")
        case _:
            foreign = _tokens(choose.choice(others)) if others else found
            alike = [t for t in foreign if t.kind == token.kind] or [token]
            return _with(text, token, choose.choice(alike).text)


def _tokens(text: str) -> list[Token]:
    """Of a text that may have become no program at all."""
    try:
        return [t for t in tokens(read(text, "mutated.sql")) if t.kind != "end"]
    except Exception:
        return []


def _with(text: str, token: Token, instead: str) -> str:
    return f"{text[: token.start]} {instead} {text[token.stop :]}"
