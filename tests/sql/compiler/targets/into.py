"""A program that inserts into a target."""

from __future__ import annotations

from typing import Any

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Insert

TABLES = """\
CREATE TABLE sale (shop INT NOT NULL, product BIGINT, units BIGINT);
CREATE TABLE visit (shop INT NOT NULL, who STRING) WITH (append_only = true);
CREATE VIEW sold AS SELECT shop, count(*) AS n, sum(units) AS units FROM sale GROUP BY shop;
CREATE VIEW by_product AS SELECT shop, product, count(*) AS n FROM sale GROUP BY shop, product;
"""


def compiled(spark: Any, columns: str, insert: str, properties: str = "") -> Insert:
    target = f"CREATE TABLE out ({columns}) USING parquet OPTIONS (path 'x') {properties};\n"
    return compile_program(f"{TABLES}{target}INSERT INTO out {insert};", "p.sql", session=spark).inserts[0]
