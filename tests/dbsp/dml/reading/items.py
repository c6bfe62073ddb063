"""Tables that statements of tests change."""

from __future__ import annotations

import pyarrow as pa

from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import program, table

ITEM = (
    Field("id", pa.int64(), False),
    Field("name", pa.string()),
    Field("price", pa.decimal128(5, 2)),
    Field("day", pa.date32()),
)
PROGRAM = program([table("item", ITEM, ("id",)), table("bag", ITEM)], [])
T = PROGRAM.tables["item"]
