"""pg_tables, pg_views and their like, over a catalogue."""

from __future__ import annotations

import psycopg
import pytest

from dbsp.serving.postgres.catalogue.answering import Catalogue
from dbsp.serving.postgres.catalogue.listings import LISTINGS
from dbsp.serving.postgres.language.spelling import statements
from tests.dbsp.build import CUSTOMER, VOTES, table
from tests.servers.postgres import postgres


def _asked(query: str) -> list[tuple[object, ...]]:
    catalogue = Catalogue({"v": VOTES}, [table("customer", CUSTOMER, ("id",))])
    found = catalogue.answer(statements(query)[0], [])
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_relations_and_keys_are_listed() -> None:
    assert _asked("SELECT schemaname, tablename, hasindexes FROM pg_catalog.pg_tables") == [
        ("public", "customer", True)
    ]
    assert _asked("SELECT viewname, viewowner FROM pg_views") == [("v", "dbsp")]
    indexed = "CREATE UNIQUE INDEX customer_pkey ON public.customer USING btree (id)"
    assert _asked("SELECT tablename, indexname, indexdef FROM pg_indexes") == [
        ("customer", "customer_pkey", indexed)
    ]
    assert _asked("SELECT usename, usesuper FROM pg_catalog.pg_user") == [("dbsp", False)]
    assert _asked("SELECT column_name, constraint_name FROM information_schema.constraint_column_usage") == [
        ("id", "customer_pkey")
    ]


@pytest.mark.slow  # a real server
def test_columns_are_those_of_a_real_server() -> None:
    with postgres() as server, psycopg.connect(server.url) as one:
        for name in LISTINGS:
            real = name.replace("pg.", "pg_catalog.").replace("information.", "information_schema.")
            described = one.execute(f"SELECT * FROM {real} LIMIT 0".encode()).description
            assert described is not None
            catalogue = Catalogue({})
            found = catalogue.answer(statements(f"SELECT * FROM {real}")[0], [])
            assert found.schema.names == [column.name for column in described], name
