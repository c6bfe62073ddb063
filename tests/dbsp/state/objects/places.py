"""Places for state of a test's own: a directory, an object store in memory, and a bucket behind a proxy."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from dbsp.state.objects import bucket
from dbsp.state.objects.bucket import Bucket
from tests.servers.s3 import BUCKET, ENVIRONMENT, Proxy, Server


@dataclass
class OnStore:
    """uri: of a state that isn't there yet."""

    uri: str
    proxy: Proxy


@contextmanager
def on_store(server: Server, cache: Path) -> Iterator[OnStore]:
    """Through a proxy of its own, with an empty cache; what fails is repeated at once."""
    proxy = Proxy(server)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": proxy.endpoint}.items():
            patch.setenv(name, value)
        patch.setenv("DBSP_CACHE", str(cache))
        patch.setitem(bucket._RETRIES, "max_retries", 0)
        patch.setattr(bucket, "_PAUSE", 0.001)
        try:
            yield OnStore(f"s3://{BUCKET}/{secrets.token_hex(4)}/state", proxy)
        finally:
            proxy.close()


def in_memory() -> Bucket:
    """Of this process only."""
    return Bucket("memory://")
