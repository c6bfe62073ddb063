"""The tables that stand for PostgreSQL's have its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg
import pytest

from dbsp.serving.postgres.catalogue.tables import TABLES
from tests.servers.postgres import postgres

pytestmark = pytest.mark.slow  # clients and servers of others

# of older or newer releases than the one that is here
OTHER = {"relhasoids", "daticulocale", "datlocale", "daticurules", "indnullsnotdistinct"}


def columns_there(schema: str) -> list[Any]:
    """Of a real server: (relation, column)"""
    with postgres() as server, psycopg.connect(server.url) as one:
        return one.execute(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = %s::regnamespace",
            (schema,),
        ).fetchall()


def test_columns_are_those_of_a_real_server() -> None:
    compare(TABLES, columns_there("pg_catalog"))


def compare(tables: Mapping[str, str], listed: Iterable[tuple[str, str]]) -> None:
    """listed: tables of a real server, and their columns."""
    there: dict[str, set[str]] = {}
    for table, column in listed:
        there.setdefault(table, set()).add(column)
    for table, columns in tables.items():
        names = {column.split()[0] for column in columns.split(", ")}
        assert names - there[table] <= OTHER, table
