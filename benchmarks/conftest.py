"""What the suites share. No benchmark asserts a time: `benchmarks/report.py` puts figures side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import dbsp


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The session that the product makes for itself."""
    from dbsp.running.spark.session import session  # noqa: PLC0415  a run without Spark starts no JVM

    started = session("dbsp benchmarks")
    started.conf.set("spark.sql.session.timeZone", "UTC")
    yield started
    started.stop()


@pytest.fixture
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., dbsp.Pipeline]]:
    """opened(sql, runner): a pipeline with its state on disk and durable commits."""
    with ExitStack() as stack:

        def open_(sql: str, runner: str, name: str = "state") -> dbsp.Pipeline:
            # Compiling an unknown program needs Catalyst, whatever runs it.
            session = request.getfixturevalue("spark")
            return stack.enter_context(
                dbsp.Pipeline(sql=sql, state=tmp_path / name, runner=runner, spark=session)
            )

        yield open_
