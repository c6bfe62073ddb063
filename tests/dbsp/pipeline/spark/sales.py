"""Random sales, of which programs chained by formats of files or messages must tell the same."""

from __future__ import annotations

import random
from typing import Any

from dbsp.pipeline.pipeline import Pipeline

COLUMNS = "shop INT, who STRING, at TIMESTAMP, amount DECIMAL(9, 2)"
SALES = f"""
CREATE TABLE sale ({COLUMNS});
CREATE VIEW rows_of AS SELECT * FROM sale WHERE shop < 3;
CREATE VIEW per_person AS SELECT shop, coalesce(who, '-') AS who, count(*) AS n, max(at) AS at
FROM sale WHERE shop IS NOT NULL GROUP BY shop, coalesce(who, '-');
"""


def step(p: Pipeline, draw: random.Random, present: list[tuple[Any, ...]]) -> None:
    """One of random insertions and deletions; some rows are there twice, some have NULLs.

    There is no empty text: of CSV Spark reads that as NULL.
    """
    gone = [present.pop(draw.randrange(len(present))) for _ in range(draw.randrange(len(present) + 1))]
    days = [None, "2024-01-01 10:00:00", "1900-12-31 23:59:59.999999"]
    come = [
        (
            draw.choice([None, 1, 2, 3]),
            draw.choice([None, "x", " a,\"b'", "é\\n"]),
            draw.choice(days),
            draw.choice([None, "-1.50", "1234567.89"]),
        )
        for _ in range(draw.randrange(6))
    ]
    rows = p.spark.createDataFrame([*come, *gone], "a INT, b STRING, c STRING, d STRING").selectExpr(
        "a AS shop", "b AS who", "CAST(c AS TIMESTAMP) AS at", "CAST(d AS DECIMAL(9, 2)) AS amount"
    )
    arrow = rows.toArrow()
    p.insert("sale", arrow.slice(0, len(come)))
    p.delete("sale", arrow.slice(len(come)))
    present += come
    p.step()
