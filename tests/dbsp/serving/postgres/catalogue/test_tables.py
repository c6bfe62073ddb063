"""The tables that stand for PostgreSQL's have its columns."""

from __future__ import annotations

import psycopg
import pytest

from dbsp.serving.postgres.catalogue.tables import TABLES
from tests.servers.postgres import postgres

pytestmark = pytest.mark.slow  # clients and servers of others

# of older or newer releases than the one that is here
OTHER = {"relhasoids", "daticulocale", "datlocale", "daticurules", "indnullsnotdistinct"}


def test_columns_are_those_of_a_real_server() -> None:
    with postgres() as server, psycopg.connect(server.url) as one:
        listed = one.execute(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'pg_catalog'::regnamespace"
        ).fetchall()
    there: dict[str, set[str]] = {}
    for table, column in listed:
        there.setdefault(table, set()).add(column)
    for table, columns in TABLES.items():
        names = {column.split()[0] for column in columns.split(", ")}
        assert names - there[table] <= OTHER, table
