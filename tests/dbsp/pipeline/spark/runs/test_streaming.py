"""Sources to sinks: one step per micro-batch, and per moment at which the clock makes something due."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from dbsp.circuits.errors import DataError
from dbsp.pipeline.spark.runs.streaming import expected_steps, run
from tests.dbsp.pipeline.spark.shop import EXPECTED, FILES, SOLD, changelog, opened, sell

pytestmark = pytest.mark.spark


def test_every_batch_is_a_step_and_a_restart_goes_on(spark, shop):
    steps = []
    with opened(spark, shop) as p:
        assert expected_steps(p) == 2
        assert p.run(once=True, on_step=lambda changes: steps.append(changes.step)) == 2
        assert p.store.last.batch == 1
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert expected_steps(p) == 1
        assert p.run(once=True, on_step=lambda changes: steps.append(changes.step)) == 1
        assert p["sold"].rows() == SOLD
        assert p.run(once=True) == 0
    assert steps == [1, 2, 3]
    assert changelog(spark, shop) == EXPECTED
    alarms = spark.read.option("header", "true").csv(str(shop / "alarms")).collect()
    assert sorted((row["product"], row["units"], row["__step"]) for row in alarms) == [
        ("1", "200", 2),
        ("3", "300", 3),
    ]


def test_a_failing_row_stops_the_run_at_the_step_before(spark, shop):
    (shop / "sales" / "4.csv").write_text("oops,1,\n")
    with opened(spark, shop) as p:
        with pytest.raises(DataError, match=r"table 'sale'.*column 'product' \(BIGINT NOT NULL\)"):
            p.run(once=True)
        assert p.last_step == 2
        assert p.queued == {}
    (shop / "sales" / "4.csv").write_text(FILES[2])
    with opened(spark, shop) as p:
        p.run(once=True)
        assert p["sold"].rows() == SOLD


def test_stopping_lets_the_step_finish_and_loses_nothing(spark, shop):
    sell(shop, "3")
    stop = threading.Event()
    with opened(spark, shop) as p:
        assert run(p, on_step=lambda changes: stop.set(), stop=stop) == 1
        assert p.last_step == 1
    with opened(spark, shop) as p:
        # a batch that Spark was planning when it was stopped can take the rest at once
        assert p.run(once=True) in (1, 2)
        assert p["sold"].rows() == SOLD


CLOCKED = """
CREATE TABLE seen (id INT, at TIMESTAMP, arrived TIMESTAMP DEFAULT now())
USING csv OPTIONS (path '{0}/seen') WITH (append_only = true);
CREATE VIEW recent AS SELECT id FROM seen WHERE at > now() - INTERVAL 2 SECONDS;
CREATE VIEW arrivals AS SELECT id, arrived FROM seen WHERE id = 1;
CREATE VIEW quiet AS SELECT id, count(*) AS n FROM seen GROUP BY id TRIGGER AFTER DELAY INTERVAL 1 SECOND;
"""


def test_a_step_happens_when_the_clock_makes_something_due_and_no_other(spark, tmp_path):
    """One for the file, one for each row that leaves and each key that has been quiet; then none."""
    (tmp_path / "seen").mkdir()
    stop, changed = threading.Event(), []
    never = threading.Timer(120, stop.set)
    never.daemon = True

    def remember(changes):
        changed.append({name: view.rows() for name, view in changes.items() if view.rows()})
        if len(changed) == 3:  # some seconds of silence after all that is due
            threading.Timer(3, stop.set).start()

    with opened(spark, tmp_path, CLOCKED) as p:
        now = datetime.now(UTC).replace(tzinfo=None)
        (tmp_path / "seen" / "1.csv").write_text(
            f"1,{now + timedelta(minutes=1)}\n2,{now + timedelta(seconds=12)}\n"
        )
        never.start()
        assert run(p, on_step=remember, stop=stop) == len(changed)
        never.cancel()
        assert p.store.last.batch == 0
        ((arrival, _),) = changed[0].pop("arrivals")
        assert now < arrival["arrived"].replace(tzinfo=None) < now + timedelta(seconds=12)
        assert changed[0] == {"recent": [({"id": 1}, 1), ({"id": 2}, 1)]}
        assert {"quiet": [({"id": 1, "n": 1}, 1), ({"id": 2, "n": 1}, 1)]} in changed[1:]
        assert {"recent": [({"id": 2}, -1)]} in changed[1:]
        assert len(changed) == 3
        assert p.due is not None
