"""A state's program, to read its views by: from the cache, else compiled; and only what it means still."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.commands.history.reading import program_of, session_of
from dbsp.state.store import Store

pytestmark = pytest.mark.spark

PROGRAM = "CREATE TABLE t (x BIGINT, at TIMESTAMP); CREATE VIEW v AS SELECT x, date(at) AS d FROM t;"


@pytest.fixture
def state(spark: Any, tmp_path: Path) -> Path:
    with dbsp.Pipeline(sql=PROGRAM, spark=spark, runner="inline", state=tmp_path / "s") as p:
        p.insert("t", [(1, None)])
        p.step()
    return tmp_path / "s"


def no_session() -> Any:
    raise AssertionError("a program from the cache needs no Spark")


def test_a_known_program_needs_no_session(state: Path) -> None:
    _, identity = Store.read(state)
    assert program_of(identity, str(state), no_session).fingerprint == identity.fingerprint


def test_a_program_that_means_something_else_now_is_refused(state: Path) -> None:
    _, identity = Store.read(state)
    with pytest.raises(StateError, match="means something else to this version of dbsp or Spark than when"):
        program_of(replace(identity, fingerprint="older"), str(state), no_session)


def test_a_session_is_a_new_one_in_the_program_s_zone(spark: Any, state: Path) -> None:
    _, identity = Store.read(state)
    session = session_of(replace(identity, timezone="Asia/Tokyo"))
    assert session is not spark
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert spark.conf.get("spark.sql.session.timeZone") != "Asia/Tokyo"
