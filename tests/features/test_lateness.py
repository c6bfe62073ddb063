"""LATENESS, from its spelling to waterlines and to the retention of traces."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

WINDOWS = """
CREATE TABLE bid (auction BIGINT, price BIGINT, ts TIMESTAMP LATENESS INTERVAL 4 SECONDS)
WITH (append_only = true);
"""


def compiled(text, spark):
    return compile_program(text, "p.sql", session=spark)


@pytest.mark.parametrize(
    ("column", "lateness", "amount"),
    [
        ("TIMESTAMP", "INTERVAL 4 SECONDS", 4_000_000),
        ("TIMESTAMP", "INTERVAL '1' HOUR", 3_600_000_000),
        ("TIMESTAMP_NTZ", "INTERVAL '1 01:00:00' DAY TO SECOND", 90_000_000_000),
        ("DATE", "INTERVAL 2 DAYS", 2),
        ("DATE", "3", 3),
        ("BIGINT", "0", 0),
        ("DECIMAL(10,2)", "1.5", Decimal("1.5")),
        ("DOUBLE", "0.5", 0.5),
    ],
)
def test_amounts_are_in_the_units_of_their_column(spark, column, lateness, amount):
    program = compiled(
        f"CREATE TABLE t (c {column} LATENESS {lateness}); CREATE VIEW v AS SELECT c FROM t", spark
    )
    (one,) = program.circuit.lateness
    assert (one.name, one.amount, one.jump) == ("t.c", amount, None)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE t (c TIMESTAMP LATENESS 5)", "p.sql:1:38: lateness of a timestamp is an interval"),
        ("CREATE TABLE t (c TIMESTAMP LATENESS INTERVAL 1 MONTH)", "1:38: 'INTERVAL 1 MONTH' is no constant"),
        ("CREATE TABLE t (c STRING LATENESS INTERVAL 1 DAY)", "1:35: a column of type string can't"),
        ("CREATE TABLE t (c DATE LATENESS INTERVAL 1 HOUR)", "1:33: lateness of a date is a number of days"),
        ("CREATE TABLE t (c BIGINT LATENESS -1)", "1:35: lateness -1 is negative; zero means in order"),
        (
            "CREATE TABLE t (c DECIMAL(6,2) LATENESS 0.005)",
            "1:41: lateness of a number is a number of its type",
        ),
        ("CREATE TABLE t (c BIGINT LATENESS 1 LATENESS 2)", "1:37: column 'c' has a LATENESS already"),
        (
            "CREATE TABLE t (c BIGINT); CREATE VIEW w AS SELECT c FROM t; LATENESS w.c 1; LATENESS w.C 2",
            "1:87: column 'c' of 'w' has a LATENESS already",
        ),
        ("CREATE TABLE t (c BIGINT); CREATE VIEW Late_Rows AS SELECT c FROM t", "1:40: 'Late_Rows' is the"),
        ("CREATE TABLE t (c BIGINT LATENESS c)", "1:35: 'c' is no constant"),
        (
            "CREATE TABLE t (c BIGINT); LATENESS w.c 1",
            "1:37: LATENESS of an unknown view 'w'; views so far: none",
        ),
    ],
)
def test_what_lateness_cannot_be(spark, text, error):
    with pytest.raises(ProgramError) as raised:
        compiled(f"{text}; CREATE VIEW v AS SELECT c FROM t", spark)
    assert error in str(raised.value)


def test_lateness_of_a_view_comes_before_its_readers(spark):
    text = """CREATE TABLE t (s STRING); CREATE VIEW v AS SELECT CAST(s AS DATE) AS d FROM t;
    CREATE VIEW w AS SELECT d FROM v; LATENESS v.d INTERVAL 1 DAY;"""
    with pytest.raises(ProgramError, match="must stand before the views that read it"):
        compiled(text, spark)


def retained(program):
    """Per collected trace, the names of its columns and how many limits its rows have."""
    circuit = program.circuit
    return {
        tuple(circuit.layouts[i].schema.names): len(retention.limits)
        for i, retention in circuit.retentions.items()
    }


def test_windows_are_collected_by_their_start(spark):
    text = (
        WINDOWS
        + "CREATE VIEW v AS SELECT window.start AS s, count(*) n FROM bid GROUP BY window(ts, '10 s');"
    )
    program = compiled(text.replace("'10 s'", "'10 seconds'"), spark)
    assert len(retained(program)) == 1


def test_hopping_windows_are_collected_too(spark):
    text = WINDOWS + (
        "CREATE VIEW v AS SELECT window.start s, auction, max(price) m FROM bid "
        "GROUP BY window(ts, '10 seconds', '2 seconds'), auction;"
    )
    assert len(retained(compiled(text, spark))) == 1


def test_exploded_rows_keep_the_time_of_their_row(spark):
    text = WINDOWS + (
        "CREATE VIEW v AS SELECT ts, x, count(*) n FROM bid LATERAL VIEW explode(array(price, 1)) AS x "
        "GROUP BY ts, x;"
    )
    assert len(retained(compiled(text, spark))) == 1


@pytest.mark.parametrize("key", ["hour(ts)", "auction", "date_format(ts, 'HH:mm')", "minute(ts)"])
def test_cyclic_and_other_keys_are_kept(spark, key):
    text = WINDOWS + f"CREATE VIEW v AS SELECT {key} AS k, count(*) n FROM bid GROUP BY {key};"
    assert retained(compiled(text, spark)) == {}


def test_a_join_collects_each_side_by_the_other(spark):
    text = """
    CREATE TABLE a (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE) WITH (append_only = true);
    CREATE TABLE b (k BIGINT, ts TIMESTAMP) WITH (append_only = true);
    CREATE VIEW v AS SELECT a.k, b.ts FROM a JOIN b ON a.k = b.k
    AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR;
    """
    program = compiled(text, spark)
    circuit = program.circuit
    # only a's rows are known to move on: that bounds which rows of b, not of a, can still be met
    (trace,) = circuit.retentions
    source = circuit.sources["b"]
    reached = {trace}
    while reached and source not in reached:
        reached = {j for i in reached for j in circuit.nodes[i].inputs}
    assert source in reached


def test_both_sides_of_a_join_need_a_bound(spark):
    text = """
    CREATE TABLE a (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE) WITH (append_only = true);
    CREATE TABLE b (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE) WITH (append_only = true);
    CREATE VIEW v AS SELECT a.k, b.ts FROM a JOIN b ON a.k = b.k
    AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR;
    """
    assert len(compiled(text, spark).circuit.retentions) == 2


@pytest.mark.parametrize(
    ("condition", "is_bounded"),
    [
        ("a.ts + INTERVAL 1 HOUR >= b.ts", True),
        ("a.ts - INTERVAL 1 HOUR > b.ts", True),
        ("b.ts <= date_trunc('HOUR', a.ts)", True),
        ("a.ts + INTERVAL 1 HOUR <= b.ts", False),
        ("a.ts + INTERVAL 1 MONTH >= b.ts", False),
        ("CAST(a.ts AS DATE) >= CAST(b.ts AS DATE)", False),
        ("hour(a.ts) >= hour(b.ts)", False),
        ("a.n + 1 >= b.n", False),
    ],
)
def test_a_comparison_of_a_join_bounds_the_column_in_it(spark, condition, is_bounded):
    text = f"""
    CREATE TABLE a (k BIGINT, n INT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE) WITH (append_only = true);
    CREATE TABLE b (k BIGINT, n INT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE) WITH (append_only = true);
    CREATE LOCAL VIEW j AS SELECT a.ts FROM a JOIN b ON a.k = b.k AND {condition};
    CREATE LOCAL VIEW g AS SELECT window.start AS s, count(*) AS n FROM j GROUP BY window(ts, '1 hour');
    CREATE VIEW v AS SELECT sum(n) AS n FROM g;
    """
    assert (("window_time",) in retained(compiled(text, spark))) == is_bounded


def test_a_filter_bounds_the_column_in_it(spark):
    text = """
    CREATE TABLE a (ts TIMESTAMP LATENESS INTERVAL 1 MINUTE, other TIMESTAMP) WITH (append_only = true);
    CREATE LOCAL VIEW g AS
    SELECT other, count(*) AS n FROM a WHERE other + INTERVAL 5 MINUTES > ts GROUP BY other;
    CREATE VIEW v AS SELECT sum(n) AS n FROM g;
    """
    assert ("other",) in retained(compiled(text, spark))


def test_a_keyed_table_is_kept_whole_so_that_frozen_keys_are_known(spark):
    text = """CREATE TABLE t (id BIGINT PRIMARY KEY, ts TIMESTAMP LATENESS INTERVAL 1 HOUR);
    CREATE VIEW v AS SELECT id FROM t;"""
    assert retained(compiled(text, spark)) == {}


def test_a_keyed_table_is_collected_by_a_bounded_key(spark):
    text = """CREATE TABLE t (id BIGINT LATENESS 10 PRIMARY KEY, name STRING);
    CREATE VIEW v AS SELECT name FROM t;"""
    assert retained(compiled(text, spark)) == {("id", "name"): 1}
