"""A program whose sources change goes on where each was, on a store too; what is restored does alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbsp.commands.fsck import examine
from dbsp.history.backup import back_up, restore
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.records.places import place_of
from tests.dbsp.state.objects.places import on_store
from tests.servers.s3 import Server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SOURCE = "CREATE TABLE {0} (id BIGINT, n INT) USING csv OPTIONS (path '{1}/{0}', header 'true');\n"
TOTAL = "CREATE VIEW total_{0} AS SELECT sum(n) AS n FROM {0};\n"


def test_sources_go_on_where_they_were(spark: Any, s3_server: Server, tmp_path: Path) -> None:
    """One comes before another; the state is copied to a directory and back, and goes on from there."""
    sums = {"one": 0, "two": 0}

    def come(*names: str) -> None:
        for name in names:
            (tmp_path / name).mkdir(exist_ok=True)
            number = len(list((tmp_path / name).iterdir())) + 1
            (tmp_path / name / f"{number}.csv").write_text(f"id,n\n1,{number}\n2,10\n")
            sums[name] += number + 10

    def run(state: str, *names: str) -> None:
        text = "".join((SOURCE + TOTAL).format(name, tmp_path) for name in names)
        with Pipeline(sql=text, state=state, spark=spark, runner="inline", evolve=True) as p:
            p.run(once=True)
            assert [p[f"total_{name}"].rows() for name in names] == [[{"n": sums[name]}] for name in names]

    with on_store(s3_server, tmp_path / "cache") as place:
        come("one", "two")
        run(place.uri, "one")
        come("one")
        run(place.uri, "two", "one")
        back_up(place.uri, tmp_path / "to")
        restore(tmp_path / "to", tmp_path / "local")
        come("one", "two")
        run(str(tmp_path / "local"), "two", "one")
        back_up(tmp_path / "local", f"{place.uri}-to")
        restore(f"{place.uri}-to", f"{place.uri}-again")
        come("two")
        run(f"{place.uri}-again", "two", "one")
        for state in (place.uri, str(tmp_path / "local"), f"{place.uri}-again"):
            assert examine(place_of(state))[0] == []
