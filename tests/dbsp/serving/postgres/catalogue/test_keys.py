"""Primary keys, as a tool reads them."""

from __future__ import annotations

from typing import Any

from dbsp.serving.postgres.catalogue.keys import add_keys
from tests.dbsp.build import CUSTOMER, VOTES, table


def test_a_constraint_and_its_index() -> None:
    found: dict[str, list[Any]] = {}

    def add(name: str, rows: Any) -> None:
        found.setdefault(name, []).extend(rows)

    tables = [table("votes", VOTES), table("customer", CUSTOMER, ("name", "id"))]
    add_keys(add, tables, {"votes": 10, "customer": 11}, 20, {"relnamespace": 2200})
    (constraint,), (index,) = found["pg.pg_constraint"], found["pg.pg_index"]
    assert (constraint["conname"], constraint["conrelid"], constraint["conkey"]) == (
        "customer_pkey",
        11,
        [2, 1],
    )
    assert (index["indexrelid"], constraint["conindid"], index["indkey"]) == (20, 20, [2, 1])
    assert [row["relname"] for row in found["pg.pg_class"]] == ["customer_pkey"]
    usage = found["information.key_column_usage"]
    assert [(row["column_name"], row["ordinal_position"]) for row in usage] == [("name", 1), ("id", 2)]
    said = {(row["oid"], row["place"]): row["said"] for row in found["pg.definitions"]}
    whole = "CREATE UNIQUE INDEX customer_pkey ON public.customer USING btree (name, id)"
    assert said == {(20, 0): whole, (20, 1): "name", (20, 2): "id", (21, 0): "PRIMARY KEY (name, id)"}
