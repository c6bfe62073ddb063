"""State on a server of S3's protocol, on Azurite and on HDFS, which are there for the whole run.

S3's is moto's; with `--hypothesis-profile=long` it is MinIO.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.effort import is_long
from tests.servers import azurite, hdfs
from tests.servers.minio import minio
from tests.servers.s3 import Server, s3


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with minio(tmp_path_factory.mktemp("minio")) if is_long() else s3() as running:
        yield running


@pytest.fixture(scope="session")
def hdfs_server() -> Iterator[hdfs.Server]:
    with hdfs.hdfs() as running:
        yield running


@pytest.fixture(scope="session")
def azure_server() -> Iterator[azurite.Server]:
    with azurite.azurite() as running:
        yield running
