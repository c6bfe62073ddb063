"""A pipeline that is served in this process, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from ssl import create_default_context

import httpx

from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.access import Access
from dbsp.serving.app import Serving
from dbsp.serving.ports.server import listening
from dbsp.serving.ports.tls import read_tls
from tests.dbsp.serving.certificates import Certificate

TOKEN = "a token"
PROGRAM = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING NOT NULL, price DECIMAL(10, 2), at TIMESTAMP);
CREATE TABLE visits (shop STRING, day DATE) WITH (append_only = true);
CREATE VIEW turnover AS SELECT shop, count(*) AS n, sum(price) AS total FROM orders GROUP BY shop;
CREATE VIEW latest AS SELECT * FROM orders;
CREATE VIEW visitors AS SELECT shop, day FROM visits;
"""


class Client(httpx.Client):
    """posts: rows into a table, with the token."""

    def posted(self, table: str, rows: object, key: str = "", status: int = 200) -> dict[str, object]:
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.post(f"/tables/{table}", json=rows, headers=headers)
        assert answer.status_code == status, answer.text
        found: dict[str, object] = answer.json()
        return found

    def rows(self, path: str) -> list[dict[str, object]]:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, object]] = answer.json()["rows"]
        return found


@contextmanager
def served(
    state: Path | None = None, program: str = PROGRAM, shows: Certificate | None = None
) -> Iterator[tuple[Client, Serving]]:
    """shows: what its client trusts, and nothing else."""
    tls = None if shows is None else read_tls(shows.file, shows.key)
    with Pipeline(sql=program, runner="inline", state=state) as pipeline:
        serving = Serving(pipeline, Access(TOKEN))
        with (
            listening(serving, "127.0.0.1", 0, tls) as (host, port),
            Client(
                base_url=f"{'http' if shows is None else 'https'}://{host}:{port}",
                verify=shows is not None and create_default_context(cafile=shows.file),
                headers={"Authorization": f"Bearer {TOKEN}"},
                trust_env=False,
                timeout=60,
            ) as client,
        ):
            yield client, serving
