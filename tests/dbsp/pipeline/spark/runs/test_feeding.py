"""What feeds have read is a step, or is read again: of a step that fails nothing is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs.feeds import Feeds
from dbsp.sql.compiler.load import compile_program
from tests.servers.kafka import Broker, send

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("fails", ["plan", "step", "told"])
def test_a_step_that_fails_leaves_no_file_and_is_made_again(
    spark: Any, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """Before it is planned, before its commit, and behind it."""
    topic = f"fails_{fails}"
    # of which some are left to Spark, which writes files
    send(spark, broker, topic, [(None, json.dumps({"n": n if n % 7 else "x"})) for n in range(50)])
    text = f"""
    CREATE TABLE t (n BIGINT) USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker.servers}',
      subscribe '{topic}', startingOffsets 'earliest') WITH (format = 'json');
    CREATE VIEW v AS SELECT n FROM t;
    """

    def fail(*_: object, **__: object) -> None:
        raise Error("as it is to be")

    program = compile_program(text, session=spark)
    with (
        Pipeline(program, state=tmp_path, spark=spark, runner="inline") as p,
        monkeypatch.context() as failing,
    ):
        if fails == "plan":
            failing.setattr(Feeds, "plan", fail)
        elif fails == "step":
            failing.setattr(p, "step", fail)
        with pytest.raises(Error, match="as it is to be"):
            p.run(once=True, on_step=fail if fails == "told" else None)
        assert p.last_step == (1 if fails == "told" else 0)
        assert p.queued == {}
        assert not [*tmp_path.glob("**/staged-*")]
    with Pipeline(program, state=tmp_path, spark=spark, runner="inline") as p:
        p.run(once=True)
        assert sorted(row["n"] for row in p["v"].rows()) == [n for n in range(50) if n % 7]
        assert len(p["bad_rows"].rows()) == 8
