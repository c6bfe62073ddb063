"""A view over rows that nothing holds comes from files again, and holds what it would from the start."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import Error, StateError
from dbsp.commands.fsck import examine
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.runner import SparkRunner
from dbsp.sql.compiler.load import compile_program
from dbsp.state.records.places import place_of
from tests.dbsp.state.objects.places import on_store
from tests.servers.s3 import Server

pytestmark = pytest.mark.spark

SALES = """CREATE TABLE sale (id BIGINT, shop STRING, price INT)
USING csv OPTIONS (path '{}/sales', header 'true', maxFilesPerTrigger '1') WITH (append_only = true);
CREATE TABLE town (shop STRING PRIMARY KEY, name STRING);
"""
TOTAL = "CREATE VIEW total AS SELECT sum(price) AS price, count(*) AS n FROM sale;\n"
# over rows that nothing holds; joined with what is held
VIEWS = """CREATE VIEW by_shop AS SELECT shop, sum(price) AS price FROM sale GROUP BY shop;
CREATE VIEW dear AS SELECT s.id, t.name FROM sale s JOIN town t ON s.shop = t.shop WHERE s.price > 40;
"""
LATE = SALES.replace("id BIGINT", "id BIGINT LATENESS 10")


def come(root: Path, number: int) -> Path:
    (root / "sales").mkdir(exist_ok=True)
    lines = [f"{number * 10 + i},s{i % 3},{(number * 31 + i * 7) % 60}" for i in range(8)]
    file = root / "sales" / f"{number} [a].csv"
    file.write_text("\n".join(["id,shop,price", *lines, f"x{number},s0,1", ""]))  # the last one is bad
    return file


def run(spark: Any, state: Any, text: str, **options: Any) -> dict[str, list[Any]]:
    """What the views hold, and how many bad rows there are."""
    with Pipeline(sql=text, state=state, spark=spark, **{"runner": "inline", **options}) as p:
        if not p.last_step:
            p.insert("town", [{"shop": "s0", "name": "Ulm"}, {"shop": "s1", "name": "Bern"}])
        p.run(once=True)
        return {view: len(p[view]) if view == "bad_rows" else p[view].rows() for view in p}


@pytest.mark.parametrize("runner", ["inline", "spark"])
def test_it_is_what_it_would_be(
    spark: Any, tmp_path: Path, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkRunner.__init__, "__defaults__", (None, 0))  # every step is a large one
    monkeypatch.setattr("dbsp.evolution.backfill.PIECE", 20)
    before, after = (text.format(tmp_path) for text in (SALES + TOTAL, SALES + VIEWS + TOTAL))
    for number in range(5):
        come(tmp_path, number)
    run(spark, tmp_path / "state", before)
    come(tmp_path, 5)  # which the first step after the change reads
    said: list[str] = []
    options = {"evolve": True, "backfill": "from-source", "progress": said.append, "runner": runner}
    found = run(spark, tmp_path / "state", after, **options)
    assert found == run(spark, tmp_path / "straight", after)
    assert found["total"][0]["n"] == 6 * 8 and found["bad_rows"] == 6
    assert "kept         table sale: its files are read again" in said
    assert [line for line in said if "40 of 40" in line or "42 of 42" in line], said
    assert examine(tmp_path / "state")[0] == []
    assert not [name for name in os.listdir(tmp_path / "state" / "segments") if name.startswith("staged")]


JSON = SALES.replace("USING csv", "USING json").replace(", header 'true'", "")
COLUMN = JSON.replace("price INT)", "price INT, till STRING)")
HELD = "CREATE VIEW held AS SELECT id, shop FROM sale;\n"
BY_TILL, MOST = (
    f"CREATE VIEW {name} AS SELECT till, {value} AS n FROM sale GROUP BY till;\n"
    for name, value in (("by_till", "count(*)"), ("most", "max(price)"))
)


def with_tills(root: Path) -> None:
    (root / "sales").mkdir()
    for number in range(2):
        sales = [{"id": number * 3 + i, "shop": f"s{i}", "price": i, "till": f"t{i}"} for i in range(3)]
        (root / "sales" / f"{number}.json").write_text("".join(f"{json.dumps(sale)}\n" for sale in sales))


def test_views_agree_of_a_column_that_came_later(spark: Any, tmp_path: Path) -> None:
    """Rows that were held have NULL there, and none of them gets what its file says."""
    with_tills(tmp_path)
    old, new = JSON.format(tmp_path), COLUMN.format(tmp_path)
    state, again = tmp_path / "state", {"evolve": True, "backfill": "from-source"}
    run(spark, state, old + HELD)
    with pytest.raises(StateError, match="'till', which came later, what rows that are held haven't got"):
        run(spark, state, new + HELD + BY_TILL + MOST, **again)  # the second is of no row that is held
    assert run(spark, state, new + HELD + BY_TILL, evolve=True)["by_till"] == [{"till": None, "n": 6}]
    run(spark, state, new + BY_TILL, evolve=True)  # nothing holds the rows any more
    run(spark, state, new + BY_TILL + "-- in other words\n")
    with pytest.raises(StateError, match=r"view 'most' can't be computed .* 'till', which came later"):
        run(spark, state, new + BY_TILL + MOST, **again)
    found = run(spark, state, new + BY_TILL + TOTAL, **again)  # which doesn't read it
    assert found["total"] == [{"price": 6, "n": 6}]


def test_a_column_of_rows_that_nothing_held_is_what_files_say(spark: Any, tmp_path: Path) -> None:
    with_tills(tmp_path)
    old, new = JSON.format(tmp_path), COLUMN.format(tmp_path)
    state, again = tmp_path / "state", {"evolve": True, "backfill": "from-source"}
    run(spark, state, old + TOTAL)
    for views in (BY_TILL, BY_TILL + MOST):
        found = run(spark, state, new + TOTAL + views, **again)
        assert found["by_till"] == [{"till": f"t{i}", "n": 2} for i in range(3)]
    assert found["most"] == [{"till": f"t{i}", "n": i} for i in range(3)]


@pytest.mark.slow
def test_on_a_store(spark: Any, s3_server: Server, tmp_path: Path) -> None:
    before, after = (text.format(tmp_path) for text in (SALES + TOTAL, SALES + VIEWS + TOTAL))
    with on_store(s3_server, tmp_path / "cache") as place:
        for number in range(3):
            come(tmp_path, number)
        run(spark, place.uri, before)
        found = run(spark, place.uri, after, evolve=True, backfill="from-source")
        assert found == run(spark, tmp_path / "straight", after)
        assert examine(place_of(place.uri))[0] == []


def test_what_can_t_be_read_again_changes_nothing(spark: Any, tmp_path: Path) -> None:
    before, after = (text.format(tmp_path) for text in (SALES + TOTAL, SALES + VIEWS + TOTAL))
    state, files = tmp_path / "state", [come(tmp_path, number) for number in range(2)]
    run(spark, state, before)
    program = compile_program(after, session=spark)
    (why, *_) = dbsp.plan(program, state).refused
    assert "nothing holds the rows of table 'sale'" in why
    assert "read its files again by --backfill from-source" in why
    assert not dbsp.plan(program, state, backfill="from-source").refused
    again = {"evolve": True, "backfill": "from-source"}
    content, times = files[0].read_text(), files[0].stat()
    files[0].write_text(content + "99,s0,50\n")
    with pytest.raises(StateError, match=r"'.*0 \[a\].csv' was edited after it was read, so its rows can't"):
        run(spark, state, after, **again)
    files[0].unlink()
    with pytest.raises(StateError, match=r"'.*0 \[a\].csv' is gone since it was read"):
        run(spark, state, after, **again)
    assert not [name for name in os.listdir(state / "segments") if name.startswith("staged")]
    assert run(spark, state, before)["total"][0]["n"] == 16
    files[0].write_text(content)
    os.utime(files[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    assert len(run(spark, state, after, **again)["by_shop"]) == 3


def test_what_came_too_late_can_t_be_told_from_files(spark: Any, tmp_path: Path) -> None:
    before, after = (text.format(tmp_path) for text in (LATE + TOTAL, LATE + VIEWS + TOTAL))
    come(tmp_path, 0)
    run(spark, tmp_path / "state", before)
    with pytest.raises(StateError, match="LATENESS: which rows came too late"):
        run(spark, tmp_path / "state", after, evolve=True, backfill="from-source")


def test_other_words_are_refused(tmp_path: Path) -> None:
    for options in ({"backfill": "all", "evolve": True}, {"backfill": "from-source"}):
        with pytest.raises(Error, match=r"there is: from-source|give evolve=True, too"):
            Pipeline(sql="CREATE TABLE t (a INT);", state=tmp_path, runner="inline", **options)  # type: ignore[arg-type]
