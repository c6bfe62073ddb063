"""Functions in Python that random programs call, and how the oracles compute the same.

The engine has them as CREATE FUNCTION; DuckDB and Spark call the scalar ones as functions of their own, row
by row, and have the aggregates spelled in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

# by name: the declaration
FUNCTIONS = {
    "py_next": "CREATE FUNCTION py_next(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$"
    " return -1 if x is None else x + 1 $$;",
    "py_sum": "CREATE FUNCTION py_sum(x BIGINT, y BIGINT) RETURNS BIGINT LANGUAGE PYTHON"
    " PARAMETER STYLE ARROW HANDLER 'add' AS $$ from pyarrow.compute import add $$;",
    "py_mark": "CREATE FUNCTION py_mark(s STRING) RETURNS STRING LANGUAGE PYTHON"
    " PARAMETER STYLE PANDAS HANDLER 'mark' AS $$\ndef mark(texts):\n  return texts + '!'\n$$;",
    "py_spread": "CREATE AGGREGATE FUNCTION py_spread(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON"
    " PARAMETER STYLE ARROW AS $$\nimport pyarrow.compute as pc\n"
    "return pc.subtract(pc.max(x), pc.min(x))\n$$;",
    "py_known": "CREATE AGGREGATE FUNCTION py_known(x STRING) RETURNS BIGINT LANGUAGE PYTHON AS $$"
    " return sum(value is not None for value in x) $$;",
}

# what the oracles call: argument types, the result's, the function
SCALARS: dict[str, tuple[list[str], str, Callable[..., Any]]] = {
    "py_next": (["BIGINT"], "BIGINT", lambda x: -1 if x is None else x + 1),
    "py_sum": (["BIGINT", "BIGINT"], "BIGINT", lambda x, y: None if x is None or y is None else x + y),
    "py_mark": (["VARCHAR"], "VARCHAR", lambda s: None if s is None else s + "!"),
}

# of one column; a group without rows is NULL
_AGGREGATES = {
    "py_spread": r"(CAST(max(\1) AS BIGINT) - min(\1))",
    "py_known": r"CASE WHEN count(*) > 0 THEN count(\1) END",
}


def declarations(queries: Iterable[str]) -> str:
    """Of the functions that some of the queries call."""
    texts = list(queries)
    return "".join(f"{ddl}\n" for name, ddl in FUNCTIONS.items() if any(f"{name}(" in text for text in texts))


def without_aggregates(query: str) -> str:
    """The query as the oracles read it."""
    for name, sql in _AGGREGATES.items():
        query = re.sub(rf"\b{name}\(([\w.]+)\)", sql, query)
    return query
