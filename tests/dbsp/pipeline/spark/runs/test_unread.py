"""What the sources have that no step has read: messages of Kafka, files of a directory."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs import unread
from dbsp.pipeline.spark.runs.unread import FILES, MESSAGES, Unread, lag
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Table
from tests.dbsp.pipeline.spark.shop import opened, sell
from tests.servers.kafka import Broker, send

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("end", "latest", "behind"),
    [
        ('{"t": {"0": 3, "1": 5}}', '{"t": {"0": 10, "1": 5}}', 7),
        ('{"t": {"0": 3}}', '{"t": {"0": 3, "1": 4}, "u": {"0": 1}}', 5),
        ('{"t": {"0": 9}}', '{"t": {"0": 3}}', 0),  # the topic was made anew
        (None, '{"t": {"0": 3}}', None),
        ('{"t": {"0": 3}}', "null", None),
        ("7", "9", None),
        ("-", "9", None),
    ],
)
def test_between_two_offsets(end: str | None, latest: str | None, behind: int | None) -> None:
    assert lag(end, latest) == behind


def eventually(pipeline: Pipeline, wanted: object) -> None:
    deadline = time.monotonic() + 180
    while pipeline.unread != wanted:
        assert time.monotonic() < deadline and pipeline.running, pipeline.unread
        time.sleep(0.05)


def test_messages_of_kafka(spark: Any, broker: Broker, tmp_path: Path) -> None:
    text = f"""
    CREATE TABLE t (line STRING) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
    subscribe 'behind', startingOffsets 'earliest', maxOffsetsPerTrigger '10') WITH (format = 'raw');
    CREATE TABLE more (x INT) USING json OPTIONS (path '{tmp_path}/in');
    CREATE VIEW v AS SELECT count(*) AS n FROM t;
    CREATE VIEW w AS SELECT x FROM more;
    """
    (tmp_path / "in").mkdir()
    send(spark, broker, "behind", [(None, str(n)) for n in range(40)])
    seen: list[dict[str, tuple[int, str]]] = []
    with Pipeline(compile_program(text, "p.sql", session=spark), spark=spark, runner="inline") as p:
        assert p.unread == {}
        p.start(on_step=lambda changes: seen.append(p.unread))
        eventually(p, {"t": (0, MESSAGES), "more": (0, FILES)})
        p.stop()
        assert p.unread == {}
        assert p["v"].rows() == [{"n": 40}]
    lags = [found["t"][0] for found in seen if "t" in found]
    assert lags == sorted(lags, reverse=True) and 20 <= lags[0] <= 30, lags


def test_files_of_a_directory_also_after_a_restart(spark: Any, shop: Path) -> None:
    sell(shop, "3")
    phases, seen = [], []

    def look(changes: Any) -> None:
        phases.append(changes.metrics.phases["read"])
        seen.append(p.unread["sale"])

    with opened(spark, shop) as p:
        p.run(once=True, on_step=look)
    assert seen == [(2, FILES), (1, FILES), (0, FILES)] and min(phases) > 0
    (shop / "sales" / "4.csv").write_text("1,5,\n")
    (shop / "sales" / "5.csv").write_text("1,5,\n")
    (shop / "sales" / "_not_for_spark").write_text("")
    with opened(spark, shop) as p:
        p.run(once=True, on_step=look)
    assert seen[3:] == [(1, FILES), (0, FILES)]


def table(path: Path | str, **options: str) -> Table:
    made: Any = SimpleNamespace(
        name="t", format="json", is_file=True, options={"path": str(path), **options}, location="p.sql:1"
    )
    found: Table = made
    return found


def test_where_it_would_not_be_cheap_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("")
    files = [f"file://{tmp_path}/a.json"]

    def said(of: Table, before: list[str]) -> dict[str, tuple[int, str]]:
        behind = Unread([of])
        behind.took(0, files, lambda: before)
        return behind.now(None)

    assert said(table(tmp_path), []) == {"t": (0, FILES)}
    assert said(table(tmp_path, pathGlobFilter="b*"), []) == {}
    assert said(table("s3a://bucket/in"), []) == {}
    monkeypatch.setattr(unread, "MOST", 2)
    assert said(table(tmp_path), ["file:///x", "file:///y"]) == {}
    assert said(table(tmp_path), ["file:///x", "file:///y", "file:///z"]) == {}
    (tmp_path / "day=1").mkdir()
    assert said(table(tmp_path), []) == {}
