"""Places for state of a test's own: a directory, an object store in memory, and a bucket behind a proxy."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from dbsp.state.objects import bucket, cloud
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.cloud import CloudBucket
from dbsp.state.objects.hdfs import ADDRESS, USER
from tests.servers import azurite, hdfs
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
        patch.setitem(cloud._RETRIES, "max_retries", 0)
        patch.setattr(bucket, "_PAUSE", 0.001)
        try:
            yield OnStore(f"s3://{BUCKET}/{secrets.token_hex(4)}/state", proxy)
        finally:
            proxy.close()


@contextmanager
def on_azure(server: azurite.Server, cache: Path) -> Iterator[OnStore]:
    """Likewise."""
    proxy = Proxy(server)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment(proxy.endpoint).items():
            patch.setenv(name, value)
        patch.setenv("DBSP_CACHE", str(cache))
        patch.setitem(cloud._RETRIES, "max_retries", 0)
        patch.setattr(bucket, "_PAUSE", 0.001)
        try:
            yield OnStore(f"az://{azurite.CONTAINER}/{secrets.token_hex(4)}/state", proxy)
        finally:
            proxy.close()


@contextmanager
def on_hdfs(server: hdfs.Server, cache: Path) -> Iterator[OnStore]:
    """Likewise; the proxy is before the name node only, so what the data node is asked isn't disturbed."""
    proxy = Proxy(server)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, proxy.endpoint)
        patch.setenv(USER, hdfs.USER)
        patch.setenv("DBSP_CACHE", str(cache))
        patch.setattr(bucket, "_PAUSE", 0.001)
        try:
            yield OnStore(f"hdfs://namenode/{secrets.token_hex(4)}/state", proxy)
        finally:
            proxy.close()


def in_memory() -> Bucket:
    """Of this process only."""
    return CloudBucket("memory://")
