"""Operations: every one that is described is a route's."""

from __future__ import annotations

from dbsp.serving.operations import OPERATIONS
from tests.dbsp.serving.served import served


def test_what_is_described_is_what_there_is() -> None:
    with served() as (client, _):
        routes = client.get("/").json()["paths"]
    there = {(path, method) for path, methods in routes.items() for method in methods}
    assert OPERATIONS.keys() <= there
