"""SELECT STREAM: what it is taken for, and what can't be a stream, with its cure."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

RELATIONS = """
CREATE STREAM orders (id INT LATENESS 0, rowtime TIMESTAMP LATENESS INTERVAL 1 DAY, product INT, units INT);
CREATE STREAM shipments (id BIGINT, rowtime TIMESTAMP LATENESS INTERVAL 1 MINUTE);
CREATE STREAM kept (id BIGINT) WITH (materialized = true);
CREATE TABLE products (product INT, name STRING) WITH (append_only = true);
CREATE LOCAL VIEW recent AS SELECT STREAM id, rowtime FROM orders;
"""


def compiled(spark: Any, query: str) -> Any:
    return compile_program(f"{RELATIONS}CREATE VIEW v AS {query};", "p.sql", session=spark)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT STREAM * FROM orders",
        "SELECT STREAM id, units FROM orders WHERE units > 3",
        "select stream id from orders where units > 3",
        "SELECT STREAM (units) FROM orders",
        "SELECT STREAM id FROM (SELECT STREAM id FROM orders)",
        "SELECT STREAM rowtime FROM recent",
        "SELECT STREAM o.id, p.name FROM orders o JOIN products p ON o.product = p.product",
        "SELECT STREAM rowtime, id FROM orders ORDER BY rowtime",
        "SELECT STREAM units, `rowtime` FROM orders ORDER BY `ROWTIME` ASC NULLS LAST, units DESC",
        "SELECT STREAM FLOOR(rowtime TO HOUR) AS rowtime, id FROM orders ORDER BY FLOOR(rowtime TO HOUR), id",
        "SELECT STREAM max(units) m, FLOOR(rowtime TO HOUR) h FROM orders GROUP BY FLOOR(rowtime TO HOUR) "
        "ORDER BY FLOOR(rowtime TO HOUR) ASC, m",
        "SELECT STREAM id FROM orders UNION ALL SELECT id FROM shipments",
        "SELECT STREAM o.id FROM orders o JOIN shipments s ON o.id = s.id "
        "AND s.rowtime BETWEEN o.rowtime AND o.rowtime + INTERVAL '1' HOUR",
        "SELECT STREAM o.id FROM orders o JOIN shipments s ON o.rowtime = s.rowtime",
        "SELECT STREAM id, count(*) AS n FROM orders GROUP BY id",
        "SELECT STREAM FLOOR(rowtime TO DAY) AS d, min(id) AS n FROM orders GROUP BY FLOOR(rowtime TO DAY)",
        "SELECT STREAM id, product, count(*) AS n FROM orders GROUP BY id, CUBE (product)",
        "SELECT STREAM id, product, count(*) AS n FROM orders GROUP BY GROUPING SETS ((id, product), id)",
        "SELECT STREAM o.rowtime, s.id FROM orders o LEFT JOIN shipments s ON o.rowtime = s.rowtime",
        "SELECT id FROM kept",
        "SELECT count(*) AS n FROM kept",
    ],
)
def test_streams(spark: Any, query: str) -> None:
    view = compiled(spark, query).views["v"]
    without = query.replace("SELECT STREAM", "SELECT").replace("select stream", "select")
    tables = RELATIONS.replace("CREATE STREAM", "CREATE TABLE").replace("STREAM ", "")
    tables = tables.replace("materialized", "append_only").replace(
        ");\nCREATE", ") WITH (append_only = true);\nCREATE"
    )
    tables = tables.replace(
        " WITH (append_only = true) WITH (append_only = true)", " WITH (append_only = true)"
    )
    plain = compile_program(f"{tables}CREATE VIEW v AS {without};", session=spark).views["v"]
    assert (view.plan, view.append_only) == (plain.plan, plain.append_only)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (
            "SELECT STREAM * FROM products",
            "7:39: cannot convert table 'products' to a stream; leave STREAM out",
        ),
        ("SELECT STREAM * FROM VALUES (1), (2) AS t(x)", "7:25: cannot stream VALUES"),
        (
            "SELECT id FROM shipments",
            "7:33: cannot convert stream 'shipments' to a table; declare it WITH (mater",
        ),
        (
            "SELECT count(*) AS n FROM recent",
            "7:44: cannot convert stream 'recent' to a table; declare it WITH",
        ),
        (
            "SELECT STREAM product, count(*) AS n FROM orders GROUP BY product",
            "7:67: GROUP BY of a stream needs a mon",
        ),
        (
            "SELECT STREAM hour(rowtime) AS h, count(*) AS n FROM orders GROUP BY hour(rowtime)",
            "7:78: GROUP BY of a stream needs a monotonic column",
        ),
        (
            "SELECT STREAM rowtime, product, count(*) AS n FROM orders GROUP BY CUBE (rowtime, product)",
            "7:76: GROUP BY of a stream needs in each of its sets a monotonic column",
        ),
        (
            "SELECT STREAM rowtime, product, count(*) AS n FROM orders GROUP BY ROLLUP (rowtime, product)",
            "7:76: GROUP BY of a stream needs in each of its sets a monotonic column",
        ),
        (
            "SELECT STREAM id, units FROM orders ORDER BY units",
            "7:63: ORDER BY of a stream begins with a monotonic",
        ),
        (
            "SELECT STREAM rowtime FROM orders ORDER BY rowtime DESC",
            "7:61: ORDER BY of a stream begins with a mon",
        ),
        (
            "SELECT STREAM units, id FROM orders ORDER BY id + units",
            "7:63: ORDER BY of a stream begins with a mon",
        ),
        ("SELECT STREAM id FROM orders ORDER BY id LIMIT 3", "7:59: a stream has no LIMIT"),
        ("SELECT STREAM id FROM orders ORDER BY id OFFSET 3", "7:59: a stream has no OFFSET"),
        (
            "SELECT STREAM o.id FROM orders o JOIN shipments s ON o.units = s.id",
            "7:51: a join of two streams needs a time bound between them",
        ),
        (
            "SELECT STREAM o.id FROM orders o JOIN shipments s ON o.id = s.id AND s.rowtime >= o.rowtime",
            "7:51: a join of two streams needs a time bound between them",
        ),
        (
            "SELECT STREAM product, min(id) n FROM orders GROUP BY FLOOR(rowtime TO DAY), product",
            "7:25: no row of the stream 'v' is ever final: no waterline bounds a column of its stream key",
        ),
        (
            "SELECT STREAM id, count(*) AS n FROM orders o JOIN products p ON units = p.product GROUP BY id",
            "7:25: no row of the stream 'v' is ever final",
        ),
        (
            "SELECT STREAM id, count(*) AS n FROM orders GROUP BY id TRIGGER ON WATERMARK",
            "7:74: rows of SELECT STREAM leave when they are final; leave this, or STREAM, out",
        ),
    ],
)
def test_what_is_no_stream(spark: Any, query: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(spark, query)
    assert f"p.sql:{error}" in str(raised.value)


HOURLY = "SELECT FLOOR(rowtime TO HOUR) AS h, count(*) AS n FROM orders GROUP BY FLOOR(rowtime TO HOUR)"


def test_a_view_without_stream_serves_both(spark: Any) -> None:
    """`hourly` is a relation, and what streams from it, through a local view or not, a stream."""
    few = "CREATE LOCAL VIEW few AS SELECT * FROM hourly WHERE n < 9;"
    text = f"{RELATIONS}CREATE VIEW hourly AS {HOURLY}; {few}"
    for read in ("hourly", "few"):
        views = compile_program(f"{text} CREATE VIEW s AS SELECT STREAM h FROM {read};", session=spark).views
        assert views["hourly"].emission is None
        assert views["s"].emission is not None


@pytest.mark.parametrize("read", ["hourly", "few"])
def test_a_view_that_streams_read_is_read_as_a_relation_too(spark: Any, read: str) -> None:
    few = "CREATE LOCAL VIEW few AS SELECT * FROM hourly WHERE n < 9;"
    most = f"CREATE VIEW most AS SELECT max(n) AS n FROM {read};"
    text = f"{RELATIONS}CREATE VIEW hourly AS {HOURLY}; {few}"
    readers = f"{most} CREATE VIEW s AS SELECT STREAM h FROM hourly;"
    assert compile_program(f"{text} {readers}", session=spark).views["most"].emission is None
    with pytest.raises(ProgramError, match="cannot convert stream 'orders' to a table"):
        both = "CREATE VIEW both AS SELECT max(n) AS n FROM hourly CROSS JOIN orders;"
        compile_program(f"{text} {readers} {both}", "p.sql", session=spark)


@pytest.mark.parametrize(
    "reader",
    [
        "",
        "CREATE VIEW s AS SELECT STREAM id FROM orders;",
        "CREATE LOCAL VIEW l AS SELECT * FROM hourly;",
        "CREATE VIEW t AS SELECT max(n) AS n FROM hourly;",
    ],
)
def test_a_view_that_nothing_streams_from_reads_no_history(spark: Any, reader: str) -> None:
    with pytest.raises(
        ProgramError, match=r"p.sql:7:\d+: cannot convert stream 'orders' to a table; declare"
    ):
        compile_program(f"{RELATIONS}CREATE VIEW hourly AS {HOURLY}; {reader}", "p.sql", session=spark)


STREAMED = """
CREATE STREAM orders (rowtime TIMESTAMP LATENESS INTERVAL 0 SECONDS, product INT, units INT);
CREATE TABLE product (id INT PRIMARY KEY, name STRING);
"""


def nodes(plan: Any) -> list[str]:
    return [type(plan).__name__, *(name for input_ in plan.inputs for name in nodes(input_))]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT STREAM units, name FROM orders JOIN product ON product = id",
        "SELECT STREAM units, name FROM product JOIN orders ON product = id",
        "SELECT STREAM units, name FROM orders LEFT JOIN product ON product = id",
        "SELECT STREAM units FROM orders WHERE product NOT IN (SELECT id FROM product)",
        "SELECT STREAM units FROM orders WHERE EXISTS (SELECT * FROM product WHERE id = product)",
        "SELECT STREAM FLOOR(rowtime TO HOUR) AS h, name, count(*) AS n FROM orders JOIN product "
        "ON product = id GROUP BY FLOOR(rowtime TO HOUR), name",
        "SELECT STREAM units, n FROM orders LEFT JOIN (SELECT id, count(*) AS n FROM product GROUP BY id) "
        "ON product = id",
    ],
)
def test_a_stream_meets_a_table_that_changes_when_its_rows_come(spark: Any, query: str) -> None:
    view = compile_program(f"{STREAMED}CREATE VIEW v AS {query};", session=spark).views["v"]
    assert "ArrivalJoin" in nodes(view.plan)
    assert "Join" not in nodes(view.plan)


def test_a_relation_follows_the_table(spark: Any) -> None:
    text = STREAMED.replace("INT);\nCREATE TABLE", "INT) WITH (materialized = true);\nCREATE TABLE")
    query = "SELECT units, name FROM orders JOIN product ON product = id"
    view = compile_program(f"{text}CREATE VIEW v AS {query};", session=spark).views["v"]
    assert "ArrivalJoin" not in nodes(view.plan)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT STREAM rowtime, SUM(units) OVER (PARTITION BY FLOOR(rowtime TO HOUR) ORDER BY rowtime) AS s "
        "FROM orders",
        "SELECT STREAM rowtime, RANK() OVER (PARTITION BY FLOOR(rowtime TO HOUR) ORDER BY units) AS k "
        "FROM orders",
        "SELECT STREAM FLOOR(rowtime TO HOUR) AS h, FLOOR(rowtime TO DAY) AS d, count(*) AS n FROM orders "
        "GROUP BY GROUPING SETS ((FLOOR(rowtime TO HOUR), product), (FLOOR(rowtime TO DAY)))",
    ],
)
def test_partitions_and_sets_of_times_come_to_an_end(spark: Any, query: str) -> None:
    """Each set has a monotonic column of its own; a partition is over when its hour is."""
    view = compile_program(f"{STREAMED}CREATE VIEW v AS {query};", session=spark).views["v"]
    assert view.emission is not None


def test_a_column_may_be_called_stream(spark: Any) -> None:
    query = "SELECT stream, a FROM (SELECT stream AS stream, a FROM t)"
    text = f"CREATE TABLE t (stream INT, a INT); CREATE VIEW v AS {query};"
    assert [field.name for field in compile_program(text, session=spark).views["v"].schema] == ["stream", "a"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE STREAM s (x INT PRIMARY KEY)", "1:15: stream 's' can't have a PRIMARY KEY"),
        (
            "CREATE STREAM s (x INT) WITH (unchecked = true)",
            "unknown property 'unchecked'; properties: materialized",
        ),
        ("CREATE TABLE s (x INT) WITH (materialized = true)", "unknown property 'materialized'"),
    ],
)
def test_what_a_stream_cannot_have(spark: Any, text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(f"{text}; CREATE VIEW v AS SELECT STREAM x FROM s;", "p.sql", session=spark)
    assert error in str(raised.value)


def test_a_stream_forgets_by_the_clock_through_no_view(spark: Any) -> None:
    newest = "CREATE LOCAL VIEW newest AS SELECT * FROM orders WHERE rowtime > now() - INTERVAL 5 MINUTES;"
    text = f"{RELATIONS}{newest}\nCREATE VIEW v AS SELECT STREAM id FROM newest;"
    with pytest.raises(
        ProgramError, match="rows never leave a stream, but the clock ends a condition on now"
    ):
        compile_program(text, "p.sql", session=spark)
