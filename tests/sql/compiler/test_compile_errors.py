"""What can't be compiled is named, with the place in the user's file, what exists and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from tests.sql.compiling import compiled

pytestmark = pytest.mark.spark

QUERIES = {
    # names
    "SELECT\n amuont FROM orders": (
        "6:2: unknown column 'amuont' in 'orders'; columns: id, customer, amount, price, note, ts; "
        "did you mean 'amount'?"
    ),
    "SELECT o.id, c.nam FROM orders o JOIN customer c ON o.customer = c.id": (
        "5:31: unknown column 'c.nam'; columns of orders: id, customer, amount, price, note, ts; "
        "columns of customer: id, name, since; did you mean 'name'?"
    ),
    "SELECT id FROM ordrs": (
        "5:33: unknown table 'ordrs'; tables and views so far: orders, customer, event, out, bad_rows; "
        "did you mean 'orders'?"
    ),
    "SELECT nofun(id) FROM orders": "5:25: unknown function 'nofun'",
    "SELECT '😀', amuont FROM orders": "5:30: unknown column 'amuont'",
    # Spark's own judgement
    "SELECT id + ts FROM orders": '5:25: Cannot resolve "(id + ts)" due to data type mismatch',
    "SELECT id FROM orders WHERE id >": "5:50: syntax error at or near end of input",
    "SELECT count(*) AS n FROM orders EMIT AFTER 2 ROWS": (
        "5:56: syntax error at or near 'AFTER'; write EMIT (...), whose options are FIRST"
    ),
    "SELECT id FROM orders GROUP BY id TRIGGER EVERY 2 ROWS": (
        "5:60: syntax error at or near 'EVERY'; triggers are COUNTING n, AFTER DELAY"
    ),
    "SELECT id, count(*) FROM orders": "5:",
    "SELECT customer, note, count(*) AS n FROM orders GROUP BY customer": (
        "5:18: note is neither in GROUP BY nor within an aggregate; add it to GROUP BY, or say any_value("
    ),
    "SELECT id FROM orders o JOIN customer c ON o.customer = c.id": (
        "5:25: column 'id' could be any of c.id, o.id; say which"
    ),
    "SELECT substring(note, 1, 2, 3) AS s FROM orders": (
        "5:25: The `substring` requires [2, 3] parameters but the actual number is 4"
    ),
    "SELECT id FROM orders WHERE id = 'abc'": "5:46: The value 'abc' of the type \"STRING\" cannot be cast",
    "SELECT id FROM orders FOR SYSTEM_TIME AS OF ts": "5:40: FOR SYSTEM_TIME AS OF is for the table of",
    "SELECT id, 1/0 AS x FROM orders": "5:29: Division by zero. Use `try_divide` to tolerate divisor being 0",
    # the outside world
    "SELECT id, now() AS n FROM orders": (
        "5:29: now() here would change rows in every step: not supported; compare it with an expression of "
        "the row, as ts > now() - INTERVAL 5 MINUTES"
    ),
    **{
        f"SELECT id FROM orders WHERE {condition}": f"5:{column}: {said} would stay what it is when"
        for condition, column, said in [
            ("ts > TIMESTAMP 'now'", 51, "TIMESTAMP 'now'"),
            ("ts::date = date ' Today '", 57, "date ' Today '"),
            ("ts > timestamp_ntz'tomorrow'", 51, "timestamp_ntz 'tomorrow'"),
            ("ts > CAST('yesterday' AS TIMESTAMP)", 51, "CAST('yesterday' AS TIMESTAMP)"),
            ("ts > concat('no', 'w')", 46, "CAST(concat('no', 'w') AS TIMESTAMP)"),
            ("ts > 'now'", 46, "CAST('now' AS TIMESTAMP)"),
            ("ts > to_date('today UTC')", 51, "CAST('today UTC' AS DATE)"),
            ("ts > to_timestamp('now')", 51, "CAST('now' AS TIMESTAMP)"),
        ]
    },
    "SELECT id FROM orders WHERE rand() < 0.5": "5:46: rand() is not deterministic",
    "SELECT uuid() AS u FROM orders": "5:25: uuid() is not deterministic",
    "SELECT random() AS u": "5:25: random() is not deterministic",
    "SELECT id, localtime AS u FROM orders": "5:29: localtime here would change rows in every step",
    # operators to come
    "SELECT id, kll_sketch_agg_bigint(id) OVER () AS r FROM orders": (
        "5:29: aggregate function 'kll_sketch_agg_bigint' is not supported yet with what it keeps of its rows"
    ),
    "SELECT first(name) AS s FROM (SELECT DISTINCT name FROM customer)": (
        "5:25: not supported yet: first() and last() over the rows of DISTINCT,"
    ),
    "SELECT id FROM orders TABLESAMPLE (10 PERCENT)": "5:40: not supported yet: TABLESAMPLE",
    "SELECT measure(price) AS s FROM orders": "5:25: aggregate function 'measure' is not supported yet;",
    # a view's columns
    "SELECT id, id FROM orders": "5:18: view 'v' has two columns 'id'; rename one with AS",
    "SELECT NULL AS x": "5:18: column 'x' of view 'v' is always NULL of no type; CAST it",
}


def test_a_time_that_stands_still_may_be_a_word(spark: Any) -> None:
    query = "SELECT id FROM orders WHERE ts > TIMESTAMP 'epoch' AND ts::date > 'epoch' AND note = 'now'"
    compiled(f"CREATE VIEW v AS {query}", spark)
    with pytest.raises(ProgramError, match="TIMESTAMP 'now' would stay what it is"):
        compiled(
            "CREATE TABLE d (x TIMESTAMP DEFAULT TIMESTAMP 'now'); CREATE VIEW v AS SELECT x FROM d", spark
        )


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_refused(query: str, spark: Any) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(f"CREATE VIEW v AS {query}", spark)
    message = str(raised.value)
    assert message.startswith(f"p.sql:{QUERIES[query]}")
    assert "\n" not in message


PROGRAMS = {
    "CREATE VIEW v (a) AS SELECT id, note FROM orders": "5:13: view 'v' lists 1 columns, its query has 2",
    "CREATE TABLE orders (a INT); CREATE VIEW v AS SELECT 1 AS a": "5:14: 'orders' is already defined at",
    "CREATE VIEW Orders AS SELECT 1 AS a": "5:13: 'Orders' is already defined at p.sql:1:14",
    "CREATE VIEW v AS SELECT * FROM V": "5:32: 'V' reads itself; write CREATE RECURSIVE VIEW v (column TYPE,",
    "CREATE VIEW v AS SELECT * FROM w; CREATE VIEW W AS SELECT 1 AS a": (
        "5:32: 'w' is defined further down; a view reads what is above it: move 'w' up"
    ),
    "CREATE TABLE b (a INTT); CREATE VIEW v AS SELECT 1 AS a": '5:19: Unsupported data type "INTT"',
    "CREATE TABLE b (a VOID); CREATE VIEW v AS SELECT 1 AS a": "5:19: column 'a' of 'b': type",
    "CREATE TABLE b (a INT, PRIMARY KEY (z)); CREATE VIEW v AS SELECT 1 AS a": (
        "5:14: PRIMARY KEY of 'b' names an unknown column 'z'; columns: a"
    ),
    "CREATE VIEW v AS SELECT DATE '2024-01-01' + make_ym_interval(1000000, 0) * 1000 AS x FROM orders": (
        "5:18: Spark can't compute a constant: integer overflow"
    ),
    "": "1:1: the program defines no view",
    "CREATE VIEW v AS SELECT id, note FROM orders; INSERT INTO uot SELECT * FROM v": (
        "5:47: unknown table 'uot'; tables so far: orders, customer, event, out; did you mean 'out'?"
    ),
    "CREATE VIEW v AS SELECT id FROM orders; INSERT INTO v SELECT id FROM orders": (
        "5:41: can't insert into 'v': it is a view"
    ),
    "CREATE VIEW v AS SELECT id FROM orders; INSERT INTO orders SELECT id FROM v": (
        "5:41: table 'orders' has no USING, so there is nowhere to write"
    ),
    "CREATE VIEW v AS SELECT id, note FROM orders; INSERT INTO out SELECT * FROM v": (
        "5:47: what is inserted into 'out' can retract rows, which a table of rows can't; declare a column"
    ),
    "CREATE VIEW v AS SELECT note FROM out; INSERT INTO out SELECT id, 'x' AS note FROM event": (
        "5:40: table 'out' is written here and read by 'v' (p.sql:5:13)"
    ),
    "CREATE VIEW v AS SELECT id FROM event; INSERT INTO out SELECT * FROM v": (
        "5:56: the query has 1 columns, table 'out' has 2: id, note"
    ),
    "CREATE VIEW v AS SELECT id, ts FROM event; INSERT INTO out SELECT * FROM v": (
        "5:60: column 'note' of 'out' is STRING, the query gives TIMESTAMP; CAST it"
    ),
    "CREATE VIEW v AS SELECT id, kind FROM event; INSERT INTO out SELECT * FROM v": (
        "5:62: column 'note' of 'out' is NOT NULL, the query may give NULL"
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_refused(program: str, spark: Any) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(program, spark)
    assert str(raised.value).startswith(f"p.sql:{PROGRAMS[program]}")
