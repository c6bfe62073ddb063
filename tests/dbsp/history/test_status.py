"""How a state stands, as it is told beside its writer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import StateError
from dbsp.history.status import COMPARED, FED, LEFT, UNREAD, status_of
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import STEPS, feed, pipeline
from tests.dbsp.targets.voting import dies_undelivered, opened, voting
from tests.dbsp.targets.voting import feed as vote


def test_of_a_state_that_is_in_use(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no such directory"):
        status_of(tmp_path / "s")
    with pipeline(tmp_path / "s", keep_steps=2) as p:
        found = status_of(tmp_path / "s")
        assert (found.step, found.made, found.kept) == (0, None, ())
        feed(p)
        found = status_of(tmp_path / "s")
        assert (found.program, found.fingerprint) == (p.program.name, p.program.fingerprint)
        assert (found.step, found.kept) == (STEPS, (STEPS - 1, STEPS))
        assert found.made is not None
        assert found.tables == dict.fromkeys(("customer", "event", "votes"), FED)
        assert found.views == ("all_votes", "counts", "customers", "events")
        assert found.sinks == {}


def test_of_a_sink_that_lacks_steps(tmp_path: Path) -> None:
    made = voting("sqlite", lambda name: {"path": f"{tmp_path}/x.db", "dbtable": name})
    with opened(made, tmp_path / "s") as p:
        for _ in range(2):
            vote(p)
            p.step()
        vote(p)
        dies_undelivered(p)
    found = status_of(tmp_path / "s")
    assert (found.step, found.sinks) == (3, {"log": 2, "totals": 2})


@pytest.mark.spark
def test_of_tables_that_are_read(spark: Any, tmp_path: Path) -> None:
    def run(using: str, **options: Any) -> dict[str, str]:
        text = f"""CREATE TABLE t (id INT){using.format(tmp_path / "t")}; CREATE TABLE u (id INT);
        CREATE VIEW v AS SELECT id FROM t;"""
        with Pipeline(sql=text, state=tmp_path / "s", spark=spark, runner="inline", **options) as p:
            if using:
                p.run(once=True)
            else:
                p.step()
        return dict(status_of(tmp_path / "s").tables)

    (tmp_path / "t").mkdir()
    stream, compared = " USING JSON OPTIONS (path '{}')", " WITH (snapshot = 'every step')"
    assert run(stream) == {"t": f"json, {UNREAD}", "u": FED}
    (tmp_path / "t" / "a.json").write_text(json.dumps({"id": 1}) + "\n")
    assert run(stream) == {"t": "json", "u": FED}
    assert run("", evolve=True) == {"t": LEFT, "u": FED}
    shutil.rmtree(tmp_path / "s")
    assert run(stream + compared) == {"t": COMPARED, "u": FED}
