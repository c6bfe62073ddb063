from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.postgres import Server, postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres() as started:
        yield started
