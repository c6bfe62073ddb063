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

# what most programs survive comes more often: only what compiles is run
_SHARES = (10, 6, 1, 1, 1, 1, 3, 2)
_BEFORE = {
    *(
        "SELECT",
        "WHERE",
        "HAVING",
        "ON",
        "AND",
        "OR",
        "NOT",
        "BY",
        "WHEN",
        "THEN",
        "ELSE",
        "CASE",
        "DISTINCT",
    ),
    *(
        ",",
        "(",
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "<>",
        "!=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "BETWEEN",
        "IN",
        "LIKE",
    ),
}
# after a column's name, where it is declared, or after what is no column's
_NO_COLUMN = {
    *("(", ".", "BIGINT", "INT", "INTEGER", "STRING", "DOUBLE", "DECIMAL", "TIMESTAMP", "DATE", "BOOLEAN"),
    *(
        "VARCHAR",
        "TINYINT",
        "SMALLINT",
        "FLOAT",
        "ARRAY",
        "MAP",
        "STRUCT",
        "BINARY",
        "INTERVAL",
        "TIMESTAMP_NTZ",
    ),
}


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
    words = [t for t in found if t.kind == "word"] or [token]
    operands = _operands(found) or [(token.start, token.stop)]
    match choose.choices(("wrap", "value", "drop", "double", "swap", "word", "add", "foreign"), _SHARES)[0]:
        case "wrap":
            start, stop = choose.choice(operands)
            return _put(text, start, stop, choose.choice(_WRAPPERS).format(text[start:stop]))
        case "value":
            return _put(text, *choose.choice(operands), choose.choice(_EXTREMES))
        case "drop":
            return _with(text, token, "")
        case "double":
            return _with(text, token, f"{token.text} {token.text}")
        case "swap":
            other = choose.choice(found)
            first, second = sorted((token, other), key=lambda t: t.start)
            return _with(_with(text, second, first.text), first, second.text)
        case "word":
            return _with(text, choose.choice(words), choose.choice(words).text)
        case "add":
            return _with(text, token, f"{token.text} {choose.choice(_WORDS)}")
        case _:
            foreign = _tokens(choose.choice(others)) if others else found
            alike = [t for t in foreign if t.kind == token.kind] or [token]
            return _with(text, token, choose.choice(alike).text)


def _operands(found: Sequence[Token]) -> list[tuple[int, int]]:
    """Where columns and values stand that an expression could stand for: by their neighbours, roughly."""
    spans = []
    for i, token in enumerate(found):
        after = found[i + 1].text.upper() if i + 1 < len(found) else ""
        first = i - 2 if i > 1 and found[i - 1].text == "." else i
        before = found[first - 1].text.upper() if first else ""
        is_name = token.kind == "word" and not token.text.isupper() and after not in _NO_COLUMN
        if before in _BEFORE and (is_name or token.kind in ("number", "string")):
            spans.append((found[first].start, token.stop))
    return spans


def _tokens(text: str) -> list[Token]:
    """Of a text that may have become no program at all."""
    try:
        return [t for t in tokens(read(text, "mutated.sql")) if t.kind != "end"]
    except Exception:
        return []


def _with(text: str, token: Token, instead: str) -> str:
    return _put(text, token.start, token.stop, instead)


def _put(text: str, start: int, stop: int, instead: str) -> str:
    return f"{text[:start]} {instead} {text[stop:]}"
