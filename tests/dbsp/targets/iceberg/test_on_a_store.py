"""A table whose rows and metadata lie in a store that speaks S3, and whose commits die: it is the view."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog

from dbsp.errors import DeliveryError
from dbsp.testing.bags import arrow_values
from tests.dbsp.targets.iceberg.test_target import check_rows
from tests.dbsp.targets.voting import feed, opened, voting, write_again
from tests.servers.s3 import BUCKET, ENVIRONMENT, Server, s3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Keys are in the environment alone."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with s3() as started:
        yield started


@pytest.mark.slow
def test_it_is_the_view(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"}
    settings |= {"warehouse": f"s3://{BUCKET}/warehouse", "s3.endpoint": server.endpoint}
    made = voting("iceberg", lambda name: {"table": f"shop.{name}", **settings})
    draw, commit = random.Random(2), SqlCatalog.commit_table
    lost: list[str] = []

    def dying(catalog: SqlCatalog, *arguments: Any, **named: Any) -> Any:
        kind = draw.choice(["before", "after", "neither"])
        answer = commit(catalog, *arguments, **named) if kind != "before" else None
        if kind != "neither":
            lost.append(kind)
            raise OSError("lost")
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(SqlCatalog, "commit_table", dying)
        for _ in range(3):
            with opened(made, tmp_path / "state", max_undelivered=2, keep_steps=40) as p:
                for _ in range(2):
                    feed(p)
                    try:
                        p.step()
                    except DeliveryError:
                        p.discard()  # the step wasn't made, if a sink had to go on before it
    assert {"before", "after"} <= set(lost)
    catalog = load_catalog("dbsp", **settings)

    def rows(name: str) -> list[Any]:
        table = catalog.load_table(f"shop.{name}")
        assert table.metadata_location.startswith(f"s3://{BUCKET}/warehouse/")
        return arrow_values(table.scan().to_arrow())

    with opened(made, tmp_path / "state", keep_steps=40) as p:
        feed(p)
        p.step()
        check_rows(p, rows("totals"), rows("log"))
        write_again(p)
        check_rows(p, rows("totals"), rows("log"))
