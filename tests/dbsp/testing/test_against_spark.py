"""A program that is right equals Spark SQL; one that is wrong is found, and shrunk to what shows it."""

from __future__ import annotations

import re
import warnings

import pytest

import dbsp.testing.against_spark
from dbsp.circuits.errors import AbsentRow, DataError, Error, EvaluationError
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.linear import Filter
from dbsp.testing.against_spark import NotCompared, assert_equals_spark
from dbsp.testing.deltas import random_deltas
from dbsp.testing.programs import load

pytestmark = pytest.mark.spark

ORDERS = """
CREATE TABLE customer (id BIGINT NOT NULL, country STRING, PRIMARY KEY (id));
CREATE TABLE orders (id BIGINT, customer BIGINT, amount DECIMAL(10, 2));
CREATE VIEW turnover AS
SELECT country, count(*) AS orders, sum(amount) AS total
FROM orders o JOIN customer c ON o.customer = c.id GROUP BY country;
CREATE VIEW large AS SELECT DISTINCT customer FROM orders WHERE amount >= 100;
"""
WORDS = "CREATE TABLE t (k BIGINT, n BIGINT); CREATE VIEW v AS "


@pytest.fixture(autouse=True)
def session(spark):
    return spark


def test_a_program_that_is_right_equals_spark():
    assert_equals_spark(ORDERS, steps=6)
    assert_equals_spark(ORDERS, steps=3, seed=1, partitions=3)


def test_what_is_drawn_for_rows_is_what_the_tables_hold():
    program = """
    CREATE TABLE t (k BIGINT, n BIGINT DEFAULT monotonically_increasing_id(), u STRING DEFAULT uuid());
    CREATE TABLE s (k BIGINT PRIMARY KEY, x DOUBLE DEFAULT rand());
    CREATE VIEW v AS SELECT t.*, x FROM t LEFT JOIN s ON t.k = s.k;
    """
    assert_equals_spark(program, steps=6, partitions=3)


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (k)"])
def test_rows_that_break_a_rule_are_not_drawn(key):
    """The table's rules are Spark's: a view says them anew."""
    program = f"""
    CREATE TABLE t (k BIGINT CHECK (k > 0), n BIGINT, s STRING DEFAULT 'b',
      part BIGINT GENERATED ALWAYS AS (k DIV n),
      tag STRING GENERATED ALWAYS AS (upper(s) || k), CONSTRAINT c CHECK (length(s) < 2 AND part < 3){key});
    CREATE VIEW v AS SELECT k, n, s, part, k DIV n AS again, tag, upper(s) || k AS other FROM t;
    CREATE VIEW broken AS SELECT count_if(NOT (k > 0)) AS m,
      count_if(NOT (length(s) < 2 AND k DIV n < 3)) AS n FROM t;
    """
    assert_equals_spark(program, steps=6)
    drawn = [one for step in random_deltas(load(program), steps=6) for one in step.changes.get("t", [])]
    assert any(one.weight > 0 for one in drawn)
    assert any(one.weight < 0 for one in drawn)


def test_a_view_with_a_clock_of_its_own():
    program = """
    CREATE TABLE t (k BIGINT, ts TIMESTAMP);
    CREATE VIEW v WITH (clock = 'every 7 minutes') AS SELECT k, now() - ts AS age FROM t WHERE ts < now();
    """
    assert_equals_spark(program, steps=8)


def test_functions_of_what_is_above_them():
    program = """
    CREATE TABLE t (k BIGINT, v VARIANT);
    CREATE FUNCTION known(x BIGINT) RETURNS BOOLEAN RETURN EXISTS (SELECT 1 FROM t WHERE t.k = x);
    CREATE VIEW v AS SELECT k, v:a AS a, known(k + 1) AS b FROM t;
    CREATE FUNCTION least_of() RETURNS BIGINT RETURN (SELECT min(k) FROM v);
    CREATE VIEW w AS SELECT k, v FROM t WHERE k = least_of();
    """
    assert_equals_spark(program, steps=4)


def failing(program: str, **options: object) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_equals_spark(program, **options)  # type: ignore[arg-type]
    return str(raised.value)


def replay_of(message: str) -> list[str]:
    return [line for line in message.splitlines() if line.startswith("{")]


def test_a_wrong_operator_is_found_and_shrunk(monkeypatch, tmp_path):
    """A filter that lets everything through: one row that it shouldn't shows it."""
    monkeypatch.setattr(Filter, "step", lambda self, context, *inputs: inputs[0])
    message = failing(ORDERS, steps=20)
    assert re.match(r"program.sql: view 'large' isn't what Spark SQL computes, after step \d+\n", message)
    assert "dbsp has, Spark hasn't:\n" in message
    assert re.search(r"\nafter 1 step of 1 change, shrunk from \d+ steps? of \d+ changes:\n", message)
    row, step = replay_of(message)
    assert row.startswith('{"table": "orders", "row": {')
    assert step == '{"step": true}'
    # what it prints is a replay file that shows it again
    (tmp_path / "found.jsonl").write_text(f"{row}\n{step}\n")
    again = failing(ORDERS, deltas=tmp_path / "found.jsonl")
    assert replay_of(again) == [row, step]
    monkeypatch.undo()
    assert_equals_spark(ORDERS, tmp_path / "found.jsonl")


def test_what_needs_two_steps_is_shrunk_to_two(monkeypatch):
    """A distinct that forgets to take back: a row comes in one step, and goes in another."""
    right = Distinct.step

    def wrong(self, context, *inputs):
        delta = right(self, context, *inputs)
        return delta.take((delta.weights > 0).nonzero()[0])

    monkeypatch.setattr(Distinct, "step", wrong)
    program = "CREATE TABLE t (k BIGINT); CREATE VIEW v AS SELECT DISTINCT k FROM t;"
    inserted, first, taken, second = replay_of(failing(program, steps=20))
    assert taken == inserted.replace("}}", '}, "weight": -1}')
    assert first == second == '{"step": true}'


def test_a_comparer_that_sees_nothing_is_found(monkeypatch):
    """That is what keeps the tests above from passing by themselves."""
    monkeypatch.setattr(Filter, "step", lambda self, context, *inputs: inputs[0])
    monkeypatch.setattr(dbsp.testing.against_spark, "unpaired", lambda mine, theirs: ([], []))
    with pytest.raises(pytest.fail.Exception):
        failing(ORDERS, steps=5)


def test_a_step_that_fails_in_both_is_left_out():
    assert_equals_spark(WORDS + "SELECT k, 10 DIV n AS x FROM t;", steps=10)


def test_a_step_that_fails_only_here_is_a_difference(monkeypatch):
    right = Filter.step

    def wrong(self, context, *inputs):
        if len(inputs[0]):
            raise EvaluationError("DIVIDE_BY_ZERO", "no")
        return right(self, context, *inputs)

    monkeypatch.setattr(Filter, "step", wrong)
    message = failing(WORDS + "SELECT k FROM t WHERE n > 1;", steps=5)
    assert "the step fails, Spark's queries don't: view 'v': [DIVIDE_BY_ZERO] no" in message
    assert len(replay_of(message)) == 2


def test_late_rows_are_left_out_of_both():
    assert_equals_spark(
        "CREATE TABLE t (at TIMESTAMP LATENESS INTERVAL '1' HOUR, n BIGINT);"
        "CREATE VIEW v AS SELECT window(at, '10 minutes').start AS w, count(*) AS c FROM t GROUP BY ALL;",
        steps=8,
    )


def test_the_clock_is_the_step_s():
    assert_equals_spark(
        "CREATE TABLE t (at TIMESTAMP, n BIGINT);"
        "CREATE VIEW v AS SELECT * FROM t WHERE at > now() - INTERVAL 1 HOUR;"
        "CREATE VIEW days AS SELECT n, datediff(current_date(), CAST(at AS DATE)) AS d FROM t;",
        steps=8,
    )


def test_deltas_of_a_list():
    assert_equals_spark(ORDERS, [])


def test_deltas_of_a_file_are_taken_as_they_are(tmp_path):
    (tmp_path / "deltas.sql").write_text("DELETE FROM orders VALUES (1, 1, 1);")
    with pytest.raises(AbsentRow):
        assert_equals_spark(ORDERS, tmp_path / "deltas.sql")
    with pytest.raises(DataError, match="can't read the deltas"):
        assert_equals_spark(ORDERS, tmp_path / "none.sql")


def test_a_view_that_spark_cannot_compute_is_told():
    program = WORDS + "SELECT k, first(n) AS f FROM t GROUP BY k; CREATE VIEW w AS SELECT k FROM t;"
    with pytest.warns(NotCompared, match="view 'v' isn't compared with Spark SQL: its first or last"):
        assert_equals_spark(program, steps=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_equals_spark(program, steps=2, views=["W"])
    with pytest.raises(Error, match="view 'v' can't be compared with Spark SQL: its first or last"):
        assert_equals_spark(program, views=["v"])
    with pytest.raises(Error, match="view 'x' can't be compared with Spark SQL: views: w"):
        assert_equals_spark(program, views=["x"])


@pytest.mark.filterwarnings("ignore")
def test_nothing_to_compare_is_an_error():
    with pytest.raises(Error, match="no view can be compared"):
        assert_equals_spark(load(WORDS + "SELECT k, first(n) AS f FROM t GROUP BY k;"))


ACCOUNTS = """
CREATE TABLE account (
  id BIGINT NOT NULL PRIMARY KEY, held DECIMAL(12, 2) DEFAULT 0, kind STRING DEFAULT 'new'
);
CREATE TABLE moved (id BIGINT, amount DECIMAL(12, 2), op STRING);
CREATE VIEW sums AS SELECT kind, sum(held) AS held, count(*) AS accounts FROM account GROUP BY kind;
CREATE VIEW both AS SELECT a.id, a.held, m.amount FROM account a LEFT JOIN moved m USING (id);
"""
STATEMENTS = """
INSERT INTO account VALUES (1, 10, 'a'), (2, 20, DEFAULT), (3, 30, 'c');
INSERT INTO moved VALUES (1, 5, 'u'), (2, NULL, 'd'), (4, 7, 'i');
STEP;
MERGE INTO account a USING moved m ON a.id = m.id
WHEN MATCHED AND m.op = 'd' THEN DELETE
WHEN MATCHED THEN UPDATE SET held = a.held + m.amount
WHEN NOT MATCHED AND m.op = 'i' THEN INSERT (id, held) VALUES (m.id, m.amount)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET kind = DEFAULT;
INSERT INTO moved VALUES (9, 9, 'u');
STEP;
DELETE FROM moved WHERE op = 'd';
UPDATE account SET id = id + 100, kind = upper(kind) WHERE id IN (SELECT id FROM moved);
INSERT INTO moved SELECT id, held, 'x' FROM account;
STEP;
"""


def test_a_replay_file_of_statements(tmp_path, monkeypatch):
    """What they change is what the views are compared over, and what is shrunk."""
    (tmp_path / "deltas.sql").write_text(STATEMENTS)
    assert_equals_spark(ACCOUNTS, tmp_path / "deltas.sql")
    right = Distinct.step

    def wrong(self, context, *inputs):
        delta = right(self, context, *inputs)
        return delta.take((delta.weights > 0).nonzero()[0])

    monkeypatch.setattr(Distinct, "step", wrong)
    broken = "CREATE VIEW broken AS SELECT DISTINCT kind FROM account;"
    message = failing(ACCOUNTS + broken, deltas=tmp_path / "deltas.sql", views=["broken"])
    *changes, last = replay_of(message)
    assert last == '{"step": true}'
    assert [line for line in changes if '"account", "delete"' in line or '"kind": "new"' in line]
