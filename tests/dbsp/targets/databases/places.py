"""The databases in which the same must hold: how each is reached, and read by other means than ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from tests.servers.mariadb import mariadb
from tests.servers.mysql import mysql
from tests.servers.postgres import postgres

NAMES = ("sqlite", "duckdb", "mariadb", "mysql", "postgres")


@dataclass(frozen=True)
class Place:
    """rows: of a query. execute: a statement, which is committed. quote: around names."""

    form: str
    options: dict[str, str]
    rows: Callable[[str], list[tuple[Any, ...]]]
    execute: Callable[[str], object]
    quote: str = '"'


@contextmanager
def place(name: str, root: Path) -> Iterator[Place]:
    """An empty one."""
    path = str(root / f"some where.{name}")
    if name == "sqlite":

        def in_sqlite(statement: str) -> list[tuple[Any, ...]]:
            with closing(sqlite3.connect(path)) as connection, connection:
                return connection.execute(statement).fetchall()

        yield Place(name, {"path": path}, in_sqlite, in_sqlite)
    elif name == "duckdb":

        def in_duckdb(statement: str) -> list[tuple[Any, ...]]:
            with duckdb.connect(path) as connection:
                return connection.execute("SET TimeZone = 'UTC'").execute(statement).fetchall()

        yield Place(name, {"path": path}, in_duckdb, in_duckdb)
    elif name in ("mariadb", "mysql"):
        with mariadb() if name == "mariadb" else mysql() as server:
            yield Place(name, {"url": server.url}, server.rows, server.execute, "`")
    else:
        with postgres() as server:
            yield Place(name, {"url": server.url}, server.rows, server.execute)
