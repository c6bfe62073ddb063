"""Calls of every function of the catalogue with arguments that nobody would write.

Of each call the arguments are exchanged for columns of all types, typed and untyped NULLs, and constants, in
every position. Spark decides which of them mean anything.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import timedelta

import pyarrow as pa

from tests.generators.columns.interesting import interesting_rows

_TYPES = (
    "INT", "BIGINT", "DOUBLE", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BOOLEAN",
    "DECIMAL(10,2)", "ARRAY<INT>", "ARRAY<STRING>", "MAP<STRING,INT>", "STRUCT<a:INT,b:STRING>",
    "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH",
)  # fmt: skip
CONSTANTS = (
    "NULL", *(f"CAST(NULL AS {kind})" for kind in _TYPES), "0", "1", "-1", "2147483647",
    "-9223372036854775808", "1.5BD", "0.0", "-0.0", "1e300", "double('NaN')", "''", "'a'", "'é'", "'%'",
    "'12'", "','", "'2024-02-29'",
    "'yyyy-MM-dd'", "'UTC'", "X'DEADBEEF'", "X''", "true", "DATE '2024-02-29'", "DATE '0001-01-01'",
    "TIMESTAMP '2024-02-29 10:00:00'", "array()", "array(1, NULL)", "array('a', NULL)", "map()",
    "map('a', 1)", "named_struct('a', 1, 'b', 'x')", "INTERVAL '1' DAY", "INTERVAL '-1-2' YEAR TO MONTH",
    "array(array(1))",
)  # fmt: skip
_STRUCT = pa.struct([("a", pa.int32()), ("b", pa.string())])
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_PREFIX = "z_"


def widened(rows: pa.RecordBatch, count: int = 24) -> pa.RecordBatch:
    """Some of the rows, the last of them, and columns of every type beside them."""
    step = max(1, rows.num_rows // count)
    rows = rows.take(pa.array([*range(0, rows.num_rows, step)][:count]))
    others = interesting_rows(rows=rows.num_rows)
    for name, column in zip(others.schema.names, others.columns, strict=True):
        if not name.endswith("2"):
            rows = rows.append_column(_PREFIX + name, column)
    for name, values, data_type in (
        ("x", [b"", b"a", b"\xde\xad\xbe\xef", b"\xc3", b"a\xc3\xa9", None], pa.binary()),
        ("iv", [timedelta(0), timedelta(-3, 0, 1), timedelta(hours=25), None], pa.duration("us")),
        ("a", [[], [1, None, 3], [2], None], pa.list_(pa.int32())),
        ("sa", [["a", None], [], ["b", "a", "é"], None], pa.list_(pa.string())),
        ("mp", [[("a", 1)], [], [("b", None), ("c", 2)], None], pa.map_(pa.string(), pa.int32())),
        ("st", [{"a": 1, "b": "x"}, {"a": None, "b": None}, None], _STRUCT),
    ):  # fmt: skip
        cycled = [values[at % len(values)] for at in range(rows.num_rows)]
        rows = rows.append_column(_PREFIX + name, pa.array(cycled, data_type))
    return rows


def columns(rows: pa.RecordBatch) -> list[str]:
    return [name for name in rows.schema.names if name.startswith(_PREFIX)]


def arguments_of(text: str) -> tuple[str, list[str]] | None:
    """(function, arguments) of a text that is one call."""
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    parts, depth, quoted = [""], 0, False
    for character in match[2]:
        quoted ^= character == "'"
        if not quoted:
            depth += (character in "([{") - (character in ")]}")
            if depth < 0:
                return None
            if character == "," and not depth:
                parts.append("")
                continue
        parts[-1] += character
    return (match[1], [part.strip() for part in parts]) if match[2].strip() else None


def calls(texts: list[str], others: list[str], seed: int | None) -> Iterator[str]:
    """Without end: calls of the same functions with other arguments."""
    choose = random.Random(seed)
    known = [found for text in texts if (found := arguments_of(text))]
    while True:
        name, given = choose.choice(known)
        made = list(given)
        for at in choose.sample(
            range(len(made)), choose.choice([1, 1, 2, len(made)]) if len(made) > 1 else 1
        ):
            made[at] = choose.choice(CONSTANTS if choose.random() < 0.4 else others)
        if choose.random() < 0.05:
            made.pop(choose.randrange(len(made)))
        yield f"{name}({', '.join(made)})"
