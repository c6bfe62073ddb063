"""Who makes steps, and who waits for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.direct.reading import DirectReading
from dbsp.sql.compiler.load import compile_program
from tests.servers.kafka import Broker, kafka, patiently, send

pytestmark = pytest.mark.spark


@pytest.fixture
def mortal() -> Iterator[Broker]:
    """A broker that the test may kill."""
    with kafka() as started:
        yield started


@pytest.mark.slow
def test_a_batch_whose_broker_died_holds_up_no_step_of_others(
    spark: Any, mortal: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside files Spark plans what is read; the broker dies before that is done."""
    send(spark, mortal, "frail", [(None, json.dumps({"n": n})) for n in (1, 2)])
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "1.csv").write_text("7\n")
    text = f"""
    CREATE TABLE k (n BIGINT) USING kafka OPTIONS (`kafka.bootstrap.servers` '{mortal.servers}',
      subscribe 'frail', startingOffsets 'earliest',
      `kafka.request.timeout.ms` '500', `kafka.default.api.timeout.ms` '2000'
    ) WITH (format = 'json');
    CREATE TABLE f (n BIGINT) USING csv OPTIONS (path '{tmp_path / "files"}');
    CREATE TABLE typed (n BIGINT);
    CREATE VIEW v AS SELECT 'k' AS of, n FROM k
      UNION ALL SELECT 'f', n FROM f UNION ALL SELECT 'typed', n FROM typed;
    """
    reads, stepped, waited = threading.Event(), threading.Event(), []
    read = DirectReading.staged

    def dies(self: DirectReading, spans: Any) -> Any:
        mortal.kill()
        reads.set()
        try:
            return read(self, spans)
        finally:  # by then somebody else has made a step, or never can
            waited.append(stepped.wait(60))

    state = tmp_path / "state"
    with Pipeline(compile_program(text, session=spark), state=state, spark=spark, runner="inline") as p:
        with monkeypatch.context() as dying:
            dying.setattr(DirectReading, "staged", dies)
            p.start()
            assert reads.wait(120)
            p.insert("typed", [(5,)])
            p.step()
            stepped.set()
            with pytest.raises(Error, match=r"topic 'frail' can't be read: nothing came for 2 s"):
                _ended(p)
        assert waited == [True]
        assert p["v"].rows() == [{"of": "typed", "n": 5}]
    assert not [*state.glob("**/staged-*")]
    mortal.start()
    with Pipeline(compile_program(text, session=spark), state=state, spark=spark, runner="inline") as p:
        patiently(lambda: p.run(once=True))
        rows = sorted((row["of"], row["n"]) for row in p["v"].rows())
        assert rows == [("f", 7), ("k", 1), ("k", 2), ("typed", 5)]


def _ended(p: Pipeline) -> None:
    """Raises what ended it."""
    over = threading.Event()
    while p.running:
        over.wait(0.05)
    p.stop()
