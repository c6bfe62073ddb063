"""The session in which steps run: what its workers are told, and no more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import Error
from dbsp.running.spark.session import available_cores, session, share_keys, share_packages
from dbsp.running.spark.settings import Settings


class Context:
    """As much of a Spark context as workers' variables are."""

    def __init__(self, **environment: str) -> None:
        self.environment = environment


def test_workers_import_what_the_driver_imports() -> None:
    context: Any = Context(PYTHONPATH="/other")
    share_packages(context)
    once = context.environment["PYTHONPATH"]
    root, other = once.split(":")
    assert Path(root, "dbsp", "__init__.py").samefile(dbsp.__file__)
    assert other == "/other"
    share_packages(context)
    assert context.environment["PYTHONPATH"] == once


def test_workers_find_the_store_that_the_driver_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://there")
    monkeypatch.setenv("DBSP_CACHE", "/c")
    monkeypatch.setenv("SECRET", "s")
    context: Any = Context()
    share_keys(context)
    assert context.environment["AWS_ENDPOINT_URL"] == "http://there"
    assert context.environment["DBSP_CACHE"] == "/c"
    assert "SECRET" not in context.environment


def test_cores_are_those_that_this_process_may_use() -> None:
    assert available_cores() == len(os.sched_getaffinity(0))


def test_settings_that_change_what_queries_mean_are_refused() -> None:
    said = r"spark\.sql\.ansi\.enabled = false: here queries .* with true; leave it out"
    with pytest.raises(Error, match=said):
        session(settings=Settings(conf={"spark.sql.ansi.enabled": "false"}))
