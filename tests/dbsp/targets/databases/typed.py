"""A table of every type, and values at their edges: what a target holds of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import Insert, Program
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import program, table, view
from tests.dbsp.targets.databases.places import Place

COLUMNS = (
    Field("id", pa.string(), False),
    Field("t", pa.int8()),
    Field("i", pa.int32()),
    Field("l", pa.int64()),
    Field("f", pa.float32()),
    Field("d", pa.float64()),
    Field("b", pa.bool_()),
    Field("n", pa.decimal128(38, 3)),
    Field("text", pa.string()),
    Field("bytes", pa.binary()),
    Field("day", pa.date32()),
    Field("hour", TIME),
    Field("at", pa.timestamp("us", tz="UTC")),
    Field("local", pa.timestamp("us")),
)
LEAST, LARGEST = (Decimal(sign + "9" * 35 + ".999") for sign in ("-", ""))
ROWS: list[tuple[Any, ...]] = [
    ("a", -128, 2**31 - 1, -(2**63), 0.5, 0.1, True, Decimal("1.500"), 'a,"b"\\\n\t\r\\N\'%s`;', b"\x00\xff",
     *[None] * 4),
    ("A", *[None] * 13),
    ("a ", 127, 0, 2**63 - 1, -0.25, 1e-300, False, LEAST, "", b"", date(9999, 12, 31),
     time(23, 59, 59, 999999), datetime(1900, 1, 1, 0, 0, 0, 999999, UTC), datetime(1001, 1, 1, 0, 0, 0, 1)),
    ("á\U0001f600", 0, 0, 0, 3.4e38, 1.7e308, None, LARGEST, "NULL", b"NULL", date(1970, 1, 1), time(0),
     datetime(2024, 3, 31, 1, 30, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999)),
]  # fmt: skip


def listed(quote: str) -> str:
    """The columns, as a query names them."""
    return ", ".join(quote + field.name + quote for field in COLUMNS)


def typed_program(there: Place, columns: tuple[Field, ...] = COLUMNS, name: str = "typed") -> Program:
    """What is in a keyed table, upserted."""
    given, shown = table("given", columns, ("id",)), view("shown", Scan("given", columns))
    made = program([given], [shown], f"of {name}")
    target = replace(
        table(name, columns, ("id",)), format=there.form, options={**there.options, "dbtable": name}
    )
    insert = Insert(name, "shown", "program.sql:20:1", "upsert", tuple(range(len(columns))), (0,))
    return replace(made, tables=made.tables | {name: target}, inserts=(insert,))


def written(there: Place, state: Path, is_numbered: bool = False) -> list[tuple[Any, ...]]:
    """What the view holds in the end: rows of all types, added as they are and by keys.

    is_numbered: the key is a number, and no text.
    """
    columns, whole = COLUMNS, ROWS
    if is_numbered:
        columns = (Field("id", pa.int64(), False), *COLUMNS[1:])
        whole = [(number, *row[1:]) for number, row in enumerate(ROWS)]
    with Pipeline(typed_program(there, columns), runner="inline", state=state) as p:
        p.store.durable = False
        for rows in (whole[:2], whole[1:]):
            p.insert("given", [dict(zip((f.name for f in columns), row, strict=True)) for row in rows])
            p.step()
        p.upsert("given", [{**p["shown"].rows()[0], "text": "other", "t": 1}])
        p.step()
        return sorted(tuple(row.values()) for row in p["shown"].rows())
