"""A served pipeline to which PostgreSQL's clients connect, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from dbsp.serving.app import Serving
from dbsp.serving.ports.switching import Switching
from dbsp.serving.ports.tls import read_tls
from dbsp.serving.postgres.port import listening_postgres
from tests.dbsp.serving.certificates import Certificate
from tests.dbsp.serving.served import PROGRAM, Client, served


@dataclass
class Served:
    """port: of PostgreSQL's clients."""

    http: Client
    serving: Serving
    port: int

    def connect(self, **options: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(
            **{
                "host": "127.0.0.1",
                "port": self.port,
                "user": "me",
                "dbname": "dbsp",
                "autocommit": True,
                **options,
            }
        )

    def asked(self, query: str, values: tuple[object, ...] | None = None) -> list[Any]:
        with self.connect() as one:
            return one.execute(query, values).fetchall()


@contextmanager
def connected(
    state: Path | None = None, program: str = PROGRAM, shows: Certificate | None = None
) -> Iterator[Served]:
    tls = None if shows is None else read_tls(shows.file, shows.key)
    with (
        served(state, program, shows) as (client, serving),
        listening_postgres(Switching(serving), "127.0.0.1", 0, tls) as at,
    ):
        yield Served(client, serving, at[1])


def shops() -> list[dict[str, object]]:
    moment = "2024-01-02T03:04:05Z"
    return [
        {"id": i, "shop": f"s{i % 3}", "price": "12.50" if i % 4 else None, "at": moment} for i in range(10)
    ]
