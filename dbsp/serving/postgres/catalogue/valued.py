"""The values of parameters for the catalogue, in the types that a client has named."""

from __future__ import annotations

import re

from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.types import (
    BOOL,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
)

_NAMES = {
    BOOL: "BOOLEAN",
    INT2: "SMALLINT",
    INT4: "INTEGER",
    INT8: "BIGINT",
    FLOAT4: "REAL",
    FLOAT8: "DOUBLE",
    DATE: "DATE",
    TIME: "TIME",
    TIMESTAMP: "TIMESTAMP",
    TIMESTAMPTZ: "TIMESTAMPTZ",
    1005: "SMALLINT[]",
    1007: "INTEGER[]",
    1016: "BIGINT[]",
    1028: "BIGINT[]",
}
_DECIMAL = re.compile(r"[+-]?(\d+)(?:\.(\d*))?")
_DIGITS = 38


def valued(value: Value) -> str:
    """A literal; of a type that isn't one of these it is a text, which means what stands beside it."""
    plain = value.plain
    if value.oid == NUMERIC and value.text is not None:
        found = _DECIMAL.fullmatch(value.text)
        if found is not None and len(found[1]) + len(found[2] or "") <= _DIGITS:
            return f"{plain}::DECIMAL({_DIGITS}, {len(found[2] or '')})"
    if value.oid == BYTEA and value.text is not None:
        return f"from_hex({plain.replace(chr(92) + 'x', '')})"
    return f"{plain}::{_NAMES[value.oid]}" if value.oid in _NAMES else plain
