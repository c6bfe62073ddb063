"""Changes of whole programs, as users write them: on Spark, into sinks, with time in them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.commands.cli import main
from dbsp.commands.fsck import examine
from dbsp.commands.query import query_state
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.runner import SparkRunner
from dbsp.sql.compiler.load import load_program
from dbsp.state.store import Store

pytestmark = pytest.mark.spark

TABLES = "CREATE TABLE orders (id BIGINT, customer STRING, amount INT);\n"
TOTALS = "CREATE VIEW totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;\n"
ORDERS = [(1, "a", 10), (2, "a", 5), (3, "b", 7), (4, None, 1)]


def opened(spark: Any, state: Path, text: str, **options: Any) -> Pipeline:
    return Pipeline(sql=text, state=state, spark=spark, **{"runner": "inline", **options})


def rows(pipeline: Pipeline, view: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in pipeline[view].rows()}


def fed(spark: Any, state: Path, text: str, **rows_of: list[Any]) -> None:
    with opened(spark, state, text) as p:
        for table, given in rows_of.items():
            p.insert(table, given)
        p.step()


def test_as_tasks_of_spark(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkRunner.__init__, "__defaults__", (None, 0))  # every step is a large one
    fed(spark, tmp_path, TABLES + TOTALS, orders=ORDERS)
    more = (
        "CREATE VIEW ranked AS SELECT id, rank() OVER (PARTITION BY customer ORDER BY amount) r FROM orders;"
    )
    with opened(spark, tmp_path, TABLES + TOTALS + more, runner="spark", partitions=3, evolve=True) as p:
        assert rows(p, "ranked") == {(1, 2), (2, 1), (3, 1), (4, 1)}
        p.delete("orders", [(2, "a", 5)])
        p.step()
        assert rows(p, "ranked") == {(1, 1), (3, 1), (4, 1)}
        assert rows(p, "totals") == {("a", 10), ("b", 7), (None, 1)}


def test_a_recursion_is_computed_as_a_whole(spark: Any, tmp_path: Path) -> None:
    edges = "CREATE TABLE edges (a INT, b INT);\n"
    ends = "CREATE VIEW ends AS SELECT DISTINCT b FROM edges;\n"
    fed(spark, tmp_path, edges + ends, edges=[(1, 2), (2, 3), (3, 4)])
    reach = (
        "CREATE RECURSIVE VIEW reach (a INT, b INT) AS SELECT a, b FROM edges "
        "UNION SELECT r.a, e.b FROM reach r JOIN edges e ON r.b = e.a;\n"
    )
    with opened(spark, tmp_path, edges + ends + reach, evolve=True) as p:
        assert rows(p, "reach") == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}
        p.delete("edges", [(2, 3)])
        p.step()
        assert rows(p, "reach") == {(1, 2), (3, 4)}
    with opened(spark, tmp_path, edges + reach + ends.replace("ends", "other_ends"), evolve=True) as p:
        assert rows(p, "reach") == {(1, 2), (3, 4)}


SINK = (
    "CREATE TABLE {0} (customer STRING, total BIGINT, __weight BIGINT) USING json OPTIONS (path '{1}/{0}');\n"
)


def summed(spark: Any, path: Path) -> Counter[tuple[Any, ...]]:
    total: Counter[tuple[Any, ...]] = Counter()
    for row in spark.read.schema("customer STRING, total BIGINT, __weight BIGINT").json(str(path)).collect():
        total[row.customer, row.total] += row["__weight"]
    return Counter({row: n for row, n in total.items() if n})


def test_sinks_follow(spark: Any, tmp_path: Path) -> None:
    """One that goes on gets the difference; one that is new, what its view holds."""
    state = tmp_path / "state"
    first = SINK.format("sink", tmp_path)
    text = TABLES + first + TOTALS + "INSERT INTO sink SELECT * FROM totals;\n"
    fed(spark, state, text, orders=ORDERS)
    fed(spark, state, text, orders=[(5, "b", 1)])
    assert summed(spark, tmp_path / "sink") == Counter([("a", 15), ("b", 8), (None, 1)])
    counted = TOTALS.replace("sum(amount)", "count(*)")
    second = SINK.format("other", tmp_path)
    text = TABLES + first + second + counted
    text += "INSERT INTO sink SELECT * FROM totals;\nINSERT INTO other SELECT * FROM totals;\n"
    with opened(spark, state, text, evolve=True) as p:
        assert p.last_step == 3
        held = Counter([("a", 2), ("b", 2), (None, 1)])
        assert summed(spark, tmp_path / "sink") == held == summed(spark, tmp_path / "other")
        p.insert("orders", [(6, "c", 1)])
        p.step()
        held["c", 1] = 1
        assert summed(spark, tmp_path / "sink") == held == summed(spark, tmp_path / "other")
    wider = text.replace("total BIGINT", "sum BIGINT")
    with pytest.raises(StateError, match="sink 'sink' holds rows that were written otherwise"):
        opened(spark, state, wider, evolve=True)


def test_a_sink_of_plain_rows_gets_more_and_never_less(spark: Any, tmp_path: Path) -> None:
    state = tmp_path / "state"
    text = (
        "CREATE TABLE readings (id INT, n INT) WITH (append_only = true);\n"
        f"CREATE TABLE kept (id INT, n INT) USING json OPTIONS (path '{tmp_path}/kept');\n"
        "CREATE VIEW everything AS SELECT * FROM readings;\n"
        "CREATE VIEW many AS SELECT * FROM readings WHERE n > 5;\nINSERT INTO kept SELECT * FROM many;\n"
    )
    fed(spark, state, text, readings=[(1, 1), (2, 4), (3, 9)])
    with pytest.raises(StateError, match="view 'many' loses rows by it, and sink 'kept' takes none back"):
        opened(spark, state, text.replace("n > 5", "n > 10"), evolve=True)
    with opened(spark, state, text) as p:
        assert p.last_step == 1
    with opened(spark, state, text.replace("n > 5", "n > 3"), evolve=True) as p:
        assert rows(p, "many") == {(2, 4), (3, 9)}
    written = spark.read.schema("id INT, n INT").json(f"{tmp_path}/kept").collect()
    assert sorted((row.id, row.n) for row in written) == [(2, 4), (3, 9)]


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("TABLE orders", "TABLE Orders", "table 'Orders' was 'orders', whose rows it would not have"),
        ("amount INT", "Amount INT", "table 'orders': column 'Amount' was 'amount', whose values"),
    ],
)
def test_a_name_in_another_case_is_refused(spark: Any, tmp_path: Path, was: str, now: str, why: str) -> None:
    """A query finds it by either, and a state by one."""
    fed(spark, tmp_path, TABLES + TOTALS, orders=ORDERS)
    with pytest.raises(StateError, match=f"{why}.*; spell it as it was"):
        opened(spark, tmp_path, TABLES.replace(was, now) + TOTALS, evolve=True)


def test_a_query_of_then_says_that_the_view_was_another(spark: Any, tmp_path: Path) -> None:
    fed(spark, tmp_path, TABLES + TOTALS, orders=ORDERS)
    opened(spark, tmp_path, TABLES + TOTALS.replace("sum(amount)", "count(*)"), evolve=True).close()
    assert len([*query_state(str(tmp_path), "SELECT * FROM totals", 2, "json")]) == 3
    with pytest.raises(StateError, match="view 'totals' is not there as of that step"):
        [*query_state(str(tmp_path), "SELECT * FROM totals", 1, "json")]


def test_a_table_may_have_the_name_of_a_view_before(spark: Any, tmp_path: Path) -> None:
    fed(spark, tmp_path, TABLES + TOTALS, orders=ORDERS)
    text = TABLES + "CREATE TABLE totals (customer STRING, total BIGINT);\n"
    text += "CREATE VIEW both AS SELECT customer FROM totals UNION ALL SELECT customer FROM orders;\n"
    with opened(spark, tmp_path, text, evolve=True) as p:
        assert sorted(row["customer"] or "" for row in p["both"].rows()) == ["", "a", "a", "b"]
        p.insert("totals", [("z", 1)])
        p.step()
        assert len(p["both"].rows()) == 5


LATE = "CREATE TABLE {0} (ts TIMESTAMP LATENESS INTERVAL 1 HOUR, n INT);\n"
HOURLY = (
    "CREATE VIEW hourly AS SELECT window(ts, '1 hour').start AS hour, sum(n) AS n FROM readings GROUP BY 1;\n"
)


def hour(n: int) -> datetime:
    return datetime(2024, 1, 1, n, 30, tzinfo=UTC)


def test_what_a_waterline_has_taken_can_t_be_computed_from(spark: Any, tmp_path: Path) -> None:
    readings = LATE.format("readings")
    with opened(spark, tmp_path, readings + HOURLY) as p:
        for n in range(1, 6):
            p.insert("readings", [(hour(n), n)])
            p.step()
        p.insert("readings", [(hour(1), 100)])
        p.step()
        held = rows(p, "hourly")
        assert len(p["late_rows"].rows()) == 1
    daily = "CREATE VIEW counted AS SELECT n, count(*) AS c FROM readings GROUP BY n;\n"
    with pytest.raises(StateError, match=r"view 'counted' can't be computed .*LATENESS"):
        opened(spark, tmp_path, readings + HOURLY + daily, evolve=True)
    looser = load_program((readings + HOURLY).replace("INTERVAL 1", "INTERVAL 2"), session=spark)
    plan = dbsp.plan(looser, tmp_path)
    assert not plan.refused and (plan.filled, plan.dropped) == (0, 0)
    # but from what views hold, and with tables that are new
    more = LATE.format("others") + "CREATE VIEW big AS SELECT hour FROM hourly WHERE n > 2;\n"
    more += "CREATE VIEW others_by_n AS SELECT n, count(*) AS c FROM others GROUP BY n;\n"
    with opened(spark, tmp_path, readings + HOURLY + more, evolve=True) as p:
        assert rows(p, "hourly") == held and len(p["big"].rows()) == 3
        assert len(p["late_rows"].rows()) == 1
        p.insert("readings", [(hour(2), 100)])
        p.insert("others", [(hour(2), 1)])
        p.step()
        assert rows(p, "hourly") == held and len(p["late_rows"].rows()) == 2
        assert rows(p, "others_by_n") == {(1, 1)}


def test_a_table_with_lateness_gains_a_column(spark: Any, tmp_path: Path) -> None:
    """What is left of its rows goes on; late rows are told as they came."""
    readings = LATE.format("readings")
    with opened(spark, tmp_path, readings + HOURLY) as p:
        for n in (1, 5):
            p.insert("readings", [(hour(n), n)])
            p.step()
        p.insert("readings", [(hour(1), 100)])
        p.step()
        held, late = rows(p, "hourly"), rows(p, "late_rows")
    wider = readings.replace("n INT", "n INT, place STRING")
    with opened(spark, tmp_path, wider + HOURLY, evolve=True) as p:
        assert rows(p, "hourly") == held and rows(p, "late_rows") == late
        p.delete("readings", [(hour(5), 5, None)])
        p.insert("readings", [(hour(1), 100, "x")])
        p.step()
        assert len(p["hourly"].rows()) == 1 and len(p["late_rows"].rows()) == 2


def test_the_clock_and_emission_go_on_but_aren_t_made_up(spark: Any, tmp_path: Path) -> None:
    events = "CREATE TABLE events (k INT, ts TIMESTAMP);\n"
    recent = "CREATE VIEW recent AS SELECT k FROM events WHERE ts > now() - INTERVAL 1 HOUR;\n"
    waiting = "CREATE VIEW waiting AS SELECT k, count(*) AS c FROM events GROUP BY k TRIGGER COUNTING 2;\n"
    clock = datetime(2024, 1, 1, 12, tzinfo=UTC)
    with opened(spark, tmp_path, events + recent + waiting) as p:
        p.insert("events", [(1, clock), (2, clock)])
        p.step(clock)
    plain = "CREATE VIEW plain AS SELECT k FROM events;\n"
    with opened(spark, tmp_path, events + plain + recent + waiting, evolve=True) as p:
        assert rows(p, "recent") == rows(p, "plain") == {(1,), (2,)}
        p.insert("events", [(1, clock)])
        made = p.step(clock.replace(hour=13))
        assert {row["k"] for row, _ in made["waiting"].rows()} == {1}
        assert rows(p, "recent") == set()
    now = "CREATE VIEW today AS SELECT k FROM events WHERE ts > now() - INTERVAL 1 DAY;\n"
    with pytest.raises(StateError, match=r"view 'today' .*NOW\(\)"):
        opened(spark, tmp_path, events + plain + recent + waiting + now, evolve=True)


TIMED = "CREATE TABLE readings (ts TIMESTAMP LATENESS INTERVAL 1 HOUR, n INT);\n"
COUNTED = (
    "CREATE VIEW {0} AS SELECT window.end AS e, count(*) AS c FROM readings GROUP BY window(ts, '1 hour')"
)
ONE = "FIRST RESULT OFFSET INTERVAL '0' MINUTE, COMPLETE RESULT OFFSET INTERVAL '0' MINUTE"
TWO = ONE.replace("'0'", "'-20'", 1)
LAST = "LAST RESULT OFFSET INTERVAL '{0}' MINUTE"


def test_what_leaves_once_or_flagged_can_t_begin_in_the_middle(spark: Any, tmp_path: Path) -> None:
    """Rows that aren't final would have left; other results may."""
    flagged = f"EMIT ({TWO}, {LAST.format(0)}, RESULT STATE FLAG)"
    once = f"EMIT ({ONE}, LATE UPDATES OFF, {LAST.format(0)})"
    early = f"EMIT ({TWO}, {LAST.format(5)})"
    fed(spark, tmp_path, TIMED + COUNTED.format("held") + ";", readings=[(hour(1), 1), (hour(5), 2)])
    for name, emission in (("flagged", flagged), ("once", once)):
        more = f"{COUNTED.format('held')};\n{COUNTED.format(name)} {emission};"
        with pytest.raises(StateError, match=rf"view '{name}' can't be computed .*TRIGGER or EMIT"):
            opened(spark, tmp_path, TIMED + more, evolve=True)
    with opened(
        spark, tmp_path, TIMED + f"{COUNTED.format('held')};\n{COUNTED.format('early')} {early};", evolve=True
    ) as p:
        assert {row["c"] for row, _ in p.changes_of("early", 2).rows()} == {1}
        p.insert("readings", [(hour(5), 3)])
        assert p.step()["early"].rows() == []
        p.insert("readings", [(hour(7), 3)])
        assert sorted((row["c"], weight) for row, weight in p.step()["early"].rows()) == [(1, -1), (2, 1)]
    with opened(spark, tmp_path, TIMED + COUNTED.format("early") + ";", evolve=True) as p:
        assert {row["c"]: weight for row, weight in p.changes_of("early", 5).rows()} == {1: 1}


def test_the_order_of_arrival_can_t_be_made_up(spark: Any, tmp_path: Path) -> None:
    fed(spark, tmp_path, TABLES + TOTALS, orders=ORDERS)
    firsts = "CREATE VIEW firsts AS SELECT customer, first(amount) AS f FROM orders GROUP BY customer;\n"
    with pytest.raises(StateError, match=r"view 'firsts' .*the order in which rows arrived"):
        opened(spark, tmp_path, TABLES + TOTALS + firsts, evolve=True)
    lists = "CREATE VIEW lists AS SELECT customer, {0} AS l FROM orders GROUP BY customer;\n"
    with pytest.raises(StateError, match=r"view 'lists' .*rows arrived.* as sort_array\(collect_list\(x\)\)"):
        opened(spark, tmp_path, TABLES + TOTALS + lists.format("collect_list(amount)"), evolve=True)
    text = TABLES + TOTALS + lists.format("sort_array(collect_list(amount))")
    with opened(spark, tmp_path, text, evolve=True) as p:
        assert all(row["l"] == sorted(row["l"]) for row in p["lists"].rows())


def test_an_order_of_arrival_that_is_kept_serves_other_views(spark: Any, tmp_path: Path) -> None:
    one = "CREATE VIEW firsts AS SELECT customer, first(amount) AS f FROM orders GROUP BY customer;\n"
    fed(spark, tmp_path, TABLES + one, orders=ORDERS)
    lists = "CREATE VIEW lists AS SELECT customer, collect_list(amount) AS l FROM orders GROUP BY customer;\n"
    with opened(spark, tmp_path, TABLES + one + lists, evolve=True) as p:
        firsts = {row["customer"]: row["f"] for row in p["firsts"].rows()}
        assert {row["customer"]: row["l"][0] for row in p["lists"].rows()} == firsts


@pytest.mark.slow
def test_sources_go_on_where_they_were(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One comes before another, they change places, one goes and comes back: Spark knows them by places."""
    source = "CREATE TABLE {0} (id BIGINT, n INT) USING csv OPTIONS (path '{1}/{0}', header 'true');\n"
    one, two, three = (source.format(name, tmp_path) for name in ("one", "two", "three"))
    total = "CREATE VIEW total_{0} AS SELECT sum(n) AS n FROM {0};\n"
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    state, sums = tmp_path / "state", dict.fromkeys(("one", "two", "three"), 0)

    def come(*names: str) -> None:
        for name in names:
            number = len(list((tmp_path / name).iterdir())) + 1
            (tmp_path / name / f"{number}.csv").write_text(f"id,n\n1,{number}\n2,10\n")
            sums[name] += number + 10

    def run(*names: str) -> None:
        tables = {"one": one, "two": two, "three": three}
        text = "".join(tables[name] + total.format(name) for name in names)
        with opened(spark, state, text, evolve=True, keep_steps=1) as p:
            p.run(once=True)
            for name in names:
                assert rows(p, f"total_{name}") == {(sums[name],)}, name

    come("one", "two")
    run("one")
    come("one")
    run("two", "one")
    come("one", "two", "three")
    with monkeypatch.context() as patch, pytest.raises(StateError, match="full"):

        def commit(*_: object) -> None:
            raise OSError("full")

        patch.setattr(Store, "commit", commit)
        run("one", "three", "two")
    run("two", "one")
    come("two")
    run("one", "three", "two")
    come("one", "three")
    run("one", "three", "two")
    run("three", "two")
    assert examine(state)[0] == []
    come("two")
    run("three", "two")
    run("three", "two")
    assert len(list(state.glob("checkpoint*"))) == 1
    come("one")
    sums["one"] = sum(n + 10 for n in range(1, 6))  # a table that was gone is read from its start
    run("three", "one", "two")
    other = one.replace("USING csv", "USING json").replace(", header 'true'", "")
    with pytest.raises(
        StateError, match="table 'one' was read as csv, and is read as json; give the table another"
    ):
        opened(spark, state, three + other + two + total.format("two"), evolve=True)


def test_on_the_command_line(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, deltas = Path("program.sql"), Path("deltas.sql")
    program.write_text(TABLES + TOTALS)
    deltas.write_text("INSERT INTO orders VALUES (1, 'a', 10), (2, 'b', 1);\nSTEP;\n")
    assert CliRunner().invoke(main, ["step", "program.sql", "deltas.sql", "--state", "state"]).exit_code == 0
    program.write_text(TABLES + TOTALS + "CREATE VIEW big AS SELECT id FROM orders WHERE amount > 5;\n")
    planned = CliRunner().invoke(main, ["plan", "program.sql", "--state", "state"])
    assert planned.exit_code == 0
    lines = ["kept         table orders", "kept         view totals", "back-filled  view big: new"]
    assert planned.output.splitlines()[:3] == lines
    step = ["step", "program.sql", "deltas.sql", "--state", "state"]
    refused = CliRunner().invoke(main, step)
    assert refused.exit_code == 1 and "with --evolve" in refused.output
    made = CliRunner().invoke(main, [*step, "--evolve"])
    assert made.exit_code == 0 and '{"step": 3, "view": "big"' in made.output
    program.write_text(TABLES.replace("id BIGINT", "id INT") + TOTALS)
    planned = CliRunner().invoke(main, ["plan", "program.sql", "--state", "state"])
    assert planned.exit_code == 1 and "add a column of another name" in planned.output


def test_a_comment_is_no_change(spark: Any, tmp_path: Path) -> None:
    fed(spark, tmp_path, TABLES + TOTALS, orders=ORDERS)
    assert dbsp.plan(_file(tmp_path, "-- totals\n" + TABLES + TOTALS), tmp_path).is_same
    with opened(spark, tmp_path, "-- totals\n" + TABLES + TOTALS) as p:
        assert p.last_step == 1


def _file(root: Path, text: str) -> Path:
    file = root.with_suffix(".sql")
    file.write_text(text)
    return file
