"""Nexmark's queries as programs of their own. Their tables are fed by the caller."""

from __future__ import annotations

import re
from pathlib import Path

PROGRAM = Path(__file__).with_name("queries.sql")
_TEXT = PROGRAM.read_text()

TABLES = _TEXT[: _TEXT.index("-- Pass through.")]
QUERIES = {found[1]: found[0] for found in re.finditer(r"CREATE VIEW (\w+) AS.*?;\n", _TEXT, re.DOTALL)}


def program(query: str) -> str:
    """The program of one query, such as "q4"."""
    return TABLES + QUERIES[query]
