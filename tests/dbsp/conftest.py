"""State on a server of S3's protocol, on Azurite and on HDFS, which are there for the whole run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import azurite, hdfs
from tests.servers.s3 import Server, s3


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Server]:
    with s3() as running:
        yield running


@pytest.fixture(scope="session")
def hdfs_server() -> Iterator[hdfs.Server]:
    with hdfs.hdfs() as running:
        yield running


@pytest.fixture(scope="session")
def azure_server() -> Iterator[azurite.Server]:
    with azurite.azurite() as running:
        yield running
