"""A source that is read whole: after each look the table is what the source holds, whatever changed there."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import DataError, Error, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs.streaming import run
from dbsp.pipeline.spark.snapshots import Looks
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.build import VOTES, table

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE price (product BIGINT, amount DECIMAL(9, 2), PRIMARY KEY (product))
USING csv OPTIONS (path '{0}/prices.csv', header 'true', mode 'FAILFAST') WITH (snapshot = 'every step');
CREATE TABLE note (text STRING) USING text OPTIONS (path '{0}/notes.txt') WITH (snapshot = 'every step');
CREATE VIEW prices AS SELECT * FROM price;
CREATE VIEW notes AS SELECT text, count(*) AS n FROM note GROUP BY text;
"""
SALES = """
CREATE TABLE sale (product BIGINT, units BIGINT)
USING json OPTIONS (path '{0}/sales', maxFilesPerTrigger '1') WITH (append_only = true);
CREATE VIEW turnover AS
SELECT sum(units * amount) AS total FROM sale JOIN price ON sale.product = price.product;
"""


@contextmanager
def opened(spark: Any, root: Path, text: str = TEXT) -> Iterator[Pipeline]:
    program = compile_program(text.format(root), session=spark)
    with Pipeline(program, state=root / "state", spark=spark, runner="inline") as p:
        yield p


def write(root: Path, prices: dict[int, str], notes: list[str]) -> None:
    lines = ["product,amount", *(f"{product},{amount}" for product, amount in prices.items())]
    (root / "prices.csv").write_text("\n".join(lines) + "\n")
    (root / "notes.txt").write_text("".join(f"{note}\n" for note in notes))


def prices(p: Pipeline) -> dict[int, str]:
    return {row["product"]: str(row["amount"]) for row in p["prices"].rows()}


def test_an_edited_file_is_its_difference(spark: Any, tmp_path: Path) -> None:
    write(tmp_path, {1: "1.00", 2: "2.00", 3: "3.00"}, ["a", "a", "b"])
    steps: list[int] = []
    with opened(spark, tmp_path) as p:
        assert p.run(once=True, on_step=lambda changes: steps.append(len(changes["prices"]))) == 1
        assert p.run(once=True) == 0
        write(tmp_path, {2: "2.50", 3: "3.00", 4: "4.00"}, ["a", "b", "b"])
    with opened(spark, tmp_path) as p:
        assert p.run(once=True, on_step=lambda changes: steps.append(len(changes["prices"]))) == 1
        assert prices(p) == {2: "2.50", 3: "3.00", 4: "4.00"}
        assert p["notes"].rows() == [{"text": "a", "n": 1}, {"text": "b", "n": 2}]
    assert steps == [3, 4]


def test_each_step_of_a_stream_sees_the_source_as_it_is(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "sales").mkdir()
    write(tmp_path, {1: "1.00"}, [])
    with opened(spark, tmp_path, TEXT + SALES) as p:
        (tmp_path / "sales" / "1.json").write_text('{"product": 1, "units": 10}\n')
        assert p.run(once=True) == 1
        assert str(p["turnover"].rows()[0]["total"]) == "10.00"
        write(tmp_path, {1: "2.00"}, [])
        assert p.run(once=True) == 1  # without a batch
        (tmp_path / "sales" / "2.json").write_text('{"product": 1, "units": 1}\n')
        write(tmp_path, {1: "3.00"}, [])
        assert p.run(once=True) == 1
        assert str(p["turnover"].rows()[0]["total"]) == "33.00"


def test_a_run_that_goes_on_looks_again(spark: Any, tmp_path: Path) -> None:
    write(tmp_path, {1: "1.00"}, [])
    stop = threading.Event()

    def edit(changes: Any) -> None:
        if changes.step == 1:
            write(tmp_path, {1: "1.50"}, [])
        else:
            stop.set()

    with opened(spark, tmp_path) as p:
        assert run(p, every=0.1, on_step=edit, stop=stop) == 2
        assert prices(p) == {1: "1.50"}


def test_a_source_is_read_as_often_as_it_says(spark: Any, tmp_path: Path) -> None:
    text = TEXT.replace(
        "notes.txt') WITH (snapshot = 'every step')", "notes.txt') WITH (snapshot = INTERVAL 1 HOUR)"
    )
    write(tmp_path, {1: "1.00"}, ["a"])
    stop = threading.Event()

    def edit(changes: Any) -> None:
        if changes.step == 1:
            write(tmp_path, {1: "1.50"}, ["b"])
        else:
            stop.set()

    with opened(spark, tmp_path, text) as p:
        assert p.program.tables["note"].snapshot_every == 3_600_000_000
        assert run(p, every=0.1, on_step=edit, stop=stop) == 2
        assert (prices(p), [row["text"] for row in p["notes"].rows()]) == ({1: "1.50"}, ["a"])
        p.run(once=True)  # which begins with all of them
        assert [row["text"] for row in p["notes"].rows()] == ["b"]


def test_a_source_that_was_not_read_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("dbsp.pipeline.spark.snapshots.time.monotonic", lambda: now)
    always, hourly = (
        replace(table("t", VOTES), name=name, snapshot_every=every)
        for name, every in (("a", 0), ("h", 3_600_000_000))
    )
    looks = Looks([always, hourly])
    assert looks.due() == [always, hourly]
    looks.done(looks.due(), now)
    now += 3599
    assert looks.due() == [always]
    looks.done([always], now)
    now += 1
    assert looks.due() == [always, hourly]


def test_a_source_that_can_t_be_read_changes_nothing(spark: Any, tmp_path: Path) -> None:
    write(tmp_path, {1: "1.00"}, ["a"])
    with opened(spark, tmp_path) as p:
        p.run(once=True)
        (tmp_path / "notes.txt").unlink()
        write_prices = tmp_path / "prices.csv"
        write_prices.write_text("product,amount\n1,9.00\n")
        with pytest.raises(Error, match=r"table 'note' can't be read: .*notes\.txt"):
            p.run(once=True)
        assert (p.last_step, p.queued, prices(p)) == (1, {}, {1: "1.00"})
        write(tmp_path, {}, [])
        write_prices.write_text("product,amount\n1,9.00\n1,8.00\n")
        with pytest.raises(DataError, match="table 'price': several rows have the key product=1; a"):
            p.run(once=True)
        assert (p.last_step, p.queued) == (1, {})
        write(tmp_path, {1: "9.00"}, [])
        p.run(once=True)
        assert prices(p) == {1: "9.00"}


def test_rows_that_share_a_key_are_bad_until_one_is_left(spark: Any, tmp_path: Path) -> None:
    """Of each look: a key whose only good row is one has it, and what is bad is told when it comes."""
    text = """
    CREATE TABLE price (product BIGINT, shop INT, amount DECIMAL(9, 2), PRIMARY KEY (shop, product))
    USING csv OPTIONS (path '{0}/prices.csv', header 'true') WITH (snapshot = 'every step');
    CREATE VIEW prices AS SELECT * FROM price;
    CREATE VIEW refused AS SELECT text, reason, count(*) AS n FROM bad_rows GROUP BY text, reason;
    """
    draw, most = random.Random(1), Counter[tuple[int, int, str]]()
    with opened(spark, tmp_path, text) as p:
        for _ in range(8):
            rows = [
                (draw.randrange(3), draw.randrange(2), draw.choice(["1.00", "2.00", "many"]))
                for _ in range(draw.randrange(9))
            ]
            lines = ["product,shop,amount", *(",".join(map(str, row)) for row in rows)]
            (tmp_path / "prices.csv").write_text("\n".join(lines) + "\n")
            p.run(once=True)
            good = [row for row in rows if row[2] != "many"]
            times = Counter((shop, product) for product, shop, _ in good)
            held = {(row["product"], row["shop"], str(row["amount"])) for row in p["prices"].rows()}
            assert held == {row for row in good if times[row[1], row[0]] == 1}
            most |= Counter(row for row in rows if row not in held)
            told = {(row["text"], row["reason"][:12]): row["n"] for row in p["refused"].rows()}
            assert told == {
                (f"{product},{shop},{amount}", "column 'amou")
                if amount == "many"
                else (f'{{"product":{product},"shop":{shop},"amount":{amount}}}', "several rows"): n
                for (product, shop, amount), n in most.items()
            }
    assert {reason for _, reason in told} == {"column 'amou", "several rows"}


CSV = "USING csv OPTIONS (path 'x')"


@pytest.mark.parametrize(
    ("columns", "rest", "error"),
    [
        (
            "a INT",
            f"{CSV} WITH (snapshot = 'every step', append_only = true)",
            "p.sql:1:14: snapshot = 'every",
        ),
        ("a INT", f"{CSV} WITH (snapshot = 'every step', unchecked = true)", "unchecked rows aren't kept"),
        ("a INT LATENESS 3", f"{CSV} WITH (snapshot = 'every step')", "rows below a LATENESS aren't kept"),
        ("a INT DEFAULT 3", f"{CSV} WITH (snapshot = 'every step')", "a DEFAULT is filled in when a row"),
        ("a INT, __op STRING", f"{CSV} WITH (snapshot = 'every step')", "a changelog is read once"),
        (
            "a INT",
            f"{CSV} WITH (snapshot = 'never')",
            "property 'snapshot' is every step or an INTERVAL, not 'never'",
        ),
        (
            "a INT",
            f"{CSV} WITH (snapshot = INTERVAL 0 HOURS)",
            "p.sql:1:70: snapshot of 't' is a time from one look",
        ),
        (
            "a INT",
            f"{CSV} WITH (snapshot = INTERVAL 1 MONTH)",
            "'INTERVAL 1 MONTH' is no constant of fixed length",
        ),
        (
            "a INT",
            f"{CSV} WITH (append_only = INTERVAL 1 DAY)",
            "property 'append_only' is true or false, not 'I",
        ),
        ("a INT", "WITH (snapshot = 'every step')", "which is compared with its table; 't' has no USING"),
        (
            "value BINARY",
            "USING kafka OPTIONS (subscribe 'x') WITH (snapshot = 'every step')",
            "kafka can't be read whole, as snapshot = 'every step' of 't' says; leave it out",
        ),
        (
            "a INT",
            "USING jdbc",
            "jdbc is no stream, so it can't be read; nothing is inserted into 't' either; WITH",
        ),
    ],
)
def test_what_can_t_be_compared(spark: Any, columns: str, rest: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(
            f"CREATE TABLE t ({columns}) {rest};\nCREATE VIEW v AS SELECT * FROM t;", "p.sql", session=spark
        )
    assert error in str(raised.value)


def test_jdbc_can_be_compared(spark: Any) -> None:
    text = (
        "CREATE TABLE t (a INT) USING jdbc WITH (snapshot = 'every step');\nCREATE VIEW v AS SELECT * FROM t;"
    )
    assert compile_program(text, "p.sql", session=spark).tables["t"].is_snapshot
