"""GENERATED ALWAYS AS (expression) and CHECK (condition): rows are what Spark, and DuckDB, make of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp
from dbsp.circuits.errors import DataError, Error, StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.serving.served import served
from tests.effort import examples

pytestmark = pytest.mark.spark

GIVEN = "units INT, price DECIMAL(9, 2), name STRING, sold TIMESTAMP"
COMPUTED = {
    "total": ("DECIMAL(21, 2)", "price * units"),
    "day": ("DATE", "CAST(sold AS DATE)"),
    "tag": ("STRING", "upper(trim(name)) || '-' || coalesce(units, 0)"),
    "large": ("BOOLEAN", "units > 3 OR price > 50"),
    "words": ("ARRAY<STRING>", "split(name, ' ')"),
    # what is written once and read twice
    "few": ("INT", "nullif(length(name) * 2, 2)"),
}
CHECKS = [
    "price >= 0",
    "total < 100 OR name IS NOT NULL",
    "day > DATE'2020-01-01'",
    "NOT (tag = 'A-0' AND large)",
    "length(name) + coalesce(units, 0) BETWEEN -1 AND 8",
]
TABLE = (
    f"CREATE TABLE t ({GIVEN}, "
    + ", ".join(f"{name} {type_} GENERATED ALWAYS AS ({text})" for name, (type_, text) in COMPUTED.items())
    + ", "
    + ", ".join(f"CONSTRAINT c{i} CHECK ({text})" for i, text in enumerate(CHECKS))
    + "){}; CREATE VIEW v AS SELECT * FROM t;"
)
Row = tuple[Any, ...]
rows = st.lists(
    st.tuples(
        st.none() | st.integers(-2, 6),
        st.none() | st.sampled_from([Decimal("-1.00"), Decimal("0.50"), Decimal("60.00")]),
        st.none() | st.sampled_from(["a", " b c ", ""]),
        st.none()
        | st.sampled_from([datetime(2019, 12, 31, 23, tzinfo=UTC), datetime(2024, 2, 29, tzinfo=UTC)]),
    ),
    max_size=6,
)


def plain(row: dict[str, Any]) -> Row:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row.values())


def by_spark(spark: Any, given: list[Row]) -> tuple[list[Row], list[bool]]:
    """The rows with what Spark computes of them, and whether each breaks a condition."""
    numbered = [(i, *row) for i, row in enumerate(given)]
    frame = spark.createDataFrame(numbered, f"i INT, {GIVEN}")
    frame = frame.selectExpr(
        "*", *(f"CAST({text} AS {type_}) AS {name}" for name, (type_, text) in COMPUTED.items())
    )
    broken = " OR ".join(f"coalesce(NOT ({text}), false)" for text in CHECKS)
    found = frame.selectExpr("*", f"({broken}) AS broken").orderBy("i").collect()
    made = [plain(row.asDict()) for row in found]
    utc = [tuple(v.astimezone(UTC) if isinstance(v, datetime) else v for v in row[1:-1]) for row in made]
    return utc, [row[-1] for row in made]


@pytest.fixture(scope="module")
def compiled(spark: Any) -> Any:
    return compile_program(TABLE.format(""), session=spark)


def held(p: Pipeline, view: str = "v") -> Counter[Row]:
    return Counter(
        tuple(v.astimezone(UTC) if isinstance(v, datetime) else v for v in plain(row))
        for row in p[view].rows()
    )


@examples(25)
@given(steps=st.lists(rows, min_size=1, max_size=3), gone=st.integers(0, 1 << 16), form=st.integers(0, 3))
def test_what_is_held_is_what_spark_computes_of_rows_that_break_nothing(
    spark: Any, compiled: Any, steps: list[list[Row]], gone: int, form: int
) -> None:
    names = [part.split()[0] for part in GIVEN.replace("(9, 2)", "").split(", ")]
    everything = [row for step in steps for row in step]
    whole, broken = by_spark(spark, everything)
    expected: Counter[Row] = Counter()
    at = 0
    with Pipeline(compiled, runner="inline", partitions=2) as p:
        for step in steps:
            for row in step:
                given = dict(zip(names, row, strict=True))
                if form == 1:
                    given |= dict(zip(COMPUTED, whole[at][len(names) :], strict=True))  # what it is anyway
                rows_: Any = [given]
                if form == 2:
                    rows_ = spark.createDataFrame([row], GIVEN)
                elif form == 3:
                    rows_ = pa.Table.from_pylist([given], schema=arrow(compiled, names))
                try:
                    p.insert("t", rows_)
                    assert not broken[at], given
                    expected[whole[at]] += 1
                except DataError as error:
                    assert broken[at] and "CHECK c" in str(error) and "isn't met" in str(error), error
                at += 1
            p.step()
            assert held(p) == expected
            for i, row in enumerate([*expected]):
                if gone >> i & 1:  # without saying what is computed
                    p.delete("t", [dict(zip(names, row, strict=False))])
                    expected[row] -= 1
            p.step()
            expected = +expected
            assert held(p) == expected


def arrow(program: Any, names: list[str]) -> pa.Schema:
    return pa.schema(
        [(field.name, field.type) for field in program.tables["t"].schema if field.name in names]
    )


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_a_source_puts_rows_that_break_one_aside(spark: Any, tmp_path: Path, form: str) -> None:
    """Each is in the table, or in `bad_rows` with its text and reason, however many they are."""
    values = [(n, -5 <= n % 11 - 5 <= 2, n % 7) for n in range(5000)]
    text = f"""
    CREATE TABLE t (n INT, d INT, half BIGINT GENERATED ALWAYS AS (n DIV 2),
      part BIGINT GENERATED ALWAYS AS (n DIV d), CHECK (n % 3 <> 1), CONSTRAINT small CHECK (part < 400))
    USING {form} OPTIONS (path '{tmp_path}/in'); CREATE VIEW v AS SELECT half, n FROM t;
    CREATE VIEW reasons AS SELECT substr(reason, 1, 12) AS why, count(*) AS n FROM bad_rows GROUP BY 1;
    """
    spark.createDataFrame([(n, d) for n, _, d in values], "n INT, d INT").write.format(form).save(
        f"{tmp_path}/in"
    )
    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        good = [(n // 2, n) for n, _, d in values if d and n % 3 != 1 and n // d < 400]
        assert held(p) == Counter(good)
        why = {row["why"]: row["n"] for row in p["reasons"].rows()}
        divided = sum(d == 0 for _, _, d in values)
        assert why["column 'part"] == divided
        assert sum(why.values()) == len(values) - len(good)
        one = next(row for row in p["bad_rows"].rows() if json.loads(row["text"])["n"] == 4)
        assert one["reason"] == "CHECK (n % 3 <> 1) isn't met: n=4"
    failing = text.replace("/in')", "/in') WITH (mode = 'fail')")
    program = compile_program(failing.replace("CREATE VIEW reasons", "-- "), session=spark)
    with (
        Pipeline(program, spark=spark, runner="inline") as p,
        pytest.raises(Error, match=r"isn't met|can't be computed"),
    ):
        p.run(once=True)


def test_a_column_that_only_a_condition_reads_is_read(spark: Any, tmp_path: Path) -> None:
    """Of a source that keeps no bad rows, others aren't."""
    text = f"""
    CREATE TABLE t (a INT, b INT, c INT, CHECK (b > 0)) USING json OPTIONS (path '{tmp_path}/in')
    WITH (append_only = true, mode = 'fail');
    CREATE VIEW v AS SELECT a FROM t;
    """
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"a": 1, "b": 1}\n{"a": 2, "b": 0}\n')
    with (
        Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p,
        pytest.raises(Error, match=r"CHECK \(b > 0\) isn't met: b=0"),
    ):
        p.run(once=True)


def test_a_source_that_is_read_whole(spark: Any, tmp_path: Path) -> None:
    text = f"""
    CREATE TABLE t (k INT PRIMARY KEY, n INT CHECK (n < 100), twice INT GENERATED ALWAYS AS (n * 2))
    USING json OPTIONS (path '{tmp_path}/t.json') WITH (snapshot = 'every step');
    CREATE VIEW v AS SELECT * FROM t;
    """
    path = tmp_path / "t.json"
    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        path.write_text('{"k": 1, "n": 1}\n{"k": 2, "n": 2}\n{"k": 3, "n": 100}\n')
        p.run(once=True)
        assert held(p) == Counter({(1, 1, 2): 1, (2, 2, 4): 1})
        path.write_text('{"k": 1, "n": 1}\n{"k": 2, "n": 3}\n{"k": 3, "n": 3}\n')
        p.run(once=True)
        assert held(p) == Counter({(1, 1, 2): 1, (2, 3, 6): 1, (3, 3, 6): 1})
        changed = p.changes_of("v", p.last_step).zset.rows.column("k").to_pylist()
        assert sorted(changed) == [2, 2, 3]


KEYED = """
CREATE TABLE t (k INT PRIMARY KEY, a INT, b INT DEFAULT 1, s INT GENERATED ALWAYS AS (a + b * 2),
  CHECK (a < 5), CHECK (s <> 3 OR k = 0));
"""
statements = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "INSERT INTO t (k, a, b) VALUES ({0}, {1}, {2})",
                "INSERT INTO t (k, a, b) VALUES ({0}, {1}, {2}) ON CONFLICT DO NOTHING",
                "INSERT INTO t (k, a, b) VALUES ({0}, {1}, {2}) ON CONFLICT (k) DO UPDATE SET a = EXCLUDED.a",
                "INSERT INTO t (k, b) SELECT k + 1, coalesce(s, 2) FROM t WHERE k >= {0}",
                "UPDATE t SET a = {1} WHERE k <= {0}",
                "UPDATE t SET b = coalesce(a, 0) + {2}",
                "UPDATE t SET a = s WHERE s > {1}",
                "DELETE FROM t WHERE s = {2}",
            ]
        ),
        *(st.integers(0, 5) for _ in range(3)),
    ),
    max_size=8,
)


@pytest.fixture(scope="module")
def keyed(spark: Any) -> Any:
    text = KEYED + "CREATE VIEW v AS SELECT * FROM t"
    return compile_program(text, session=spark)


@examples(10)
@given(given=statements)
def test_statements_compute_and_check_what_they_change(keyed: Any, given: list[Any]) -> None:
    with Pipeline(keyed, runner="inline") as p, duckdb.connect() as theirs:
        theirs.execute(KEYED.replace("(s <> 3", "(a + b * 2 <> 3"))  # which DuckDB can't name there
        for text, *numbers in given:
            statement = text.format(*numbers)
            # without ON CONFLICT it is an upsert
            said = (
                statement
                if "CONFLICT" in text
                else statement.replace("INSERT INTO", "INSERT OR REPLACE INTO")
            )
            try:
                theirs.execute(said)
                fails = False
            except duckdb.ConstraintException:
                fails = True
            try:
                p.sql(statement)
                assert not fails, statement
            except DataError:
                p.discard()
                assert fails, statement
            p.step()
            assert held(p) == Counter(theirs.execute("SELECT * FROM t").fetchall()), statement


def test_what_is_computed_of_a_default() -> None:
    text = """
    CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP DEFAULT now(), day DATE NOT NULL GENERATED ALWAYS AS
      (CAST(at AS DATE)), n INT DEFAULT 3, m INT GENERATED ALWAYS AS (n + 1), CHECK (day > DATE'2021-01-01'),
      CHECK (m > 0));
    CREATE VIEW v AS SELECT * FROM t;
    """
    with Pipeline(sql=text, runner="inline") as p:
        p.insert("t", [{"k": 1}, {"k": 2, "at": datetime(2022, 1, 1, tzinfo=UTC), "n": 0}])
        p.step()
        one, two = sorted(p["v"].rows(), key=lambda row: row["k"])
        assert one["day"] == one["at"].date() and (one["n"], one["m"]) == (3, 4)
        assert (two["day"], two["m"]) == (date(2022, 1, 1), 1)
        p.delete("t", [{"k": 1}])
        p.step()
        assert [row["k"] for row in p["v"].rows()] == [2]
        for row, why in (
            (
                {"k": 3, "at": datetime(2020, 1, 1, tzinfo=UTC)},
                "CHECK (day > DATE'2021-01-01') isn't met: at=",
            ),
            (
                {"k": 3, "day": date(2022, 1, 1)},
                "column 'day' is computed, of at=NULL, and isn't day=2022-01-01",
            ),
            ({"k": 3, "m": 5}, "column 'm' is computed, of n=NULL, and isn't m=5; leave it out"),
            ({"k": 3, "n": -1}, "CHECK (m > 0) isn't met: n=-1"),
            ({"k": 3, "n": 2**31 - 1}, "column 'm' can't be computed: n + 1 where n=2147483647"),
        ):
            with pytest.raises(DataError) as refused:
                p.insert("t", [{"k": 4}, row])
            assert str(refused.value).startswith(f"table 't', row 1: {why}")
    late = "CREATE TABLE t (k INT, at TIMESTAMP DEFAULT now(), CHECK (at < TIMESTAMP'2020-01-01'));"
    with Pipeline(sql=late + "CREATE VIEW v AS SELECT * FROM t", runner="inline") as p:
        p.insert("t", [{"k": 1}])
        with pytest.raises(DataError, match=r"table 't': CHECK \(at < .*isn't met: at="):
            p.step()
        p.discard()
        p.insert("t", [{"k": 1, "at": datetime(2019, 1, 1, tzinfo=UTC)}])
        p.step()
        assert len(p["v"].rows()) == 1


def test_lateness_of_a_column_that_is_computed() -> None:
    text = """
    CREATE TABLE t (s STRING, at TIMESTAMP GENERATED ALWAYS AS (s::TIMESTAMP) LATENESS INTERVAL 1 HOUR);
    CREATE VIEW v AS SELECT s FROM t; CREATE VIEW late AS SELECT row FROM late_rows;
    """
    with Pipeline(sql=text, runner="inline") as p:
        for hour in ("10:00", "09:30", "08:59", "09:00"):
            p.insert("t", [{"s": f"2024-01-01 {hour}:00"}])
            p.step()
        assert sorted(row["s"][11:16] for row in p["v"].rows()) == ["09:00", "09:30", "10:00"]
        assert [json.loads(row["row"])["s"] for row in p["late"].rows()] == ["2024-01-01 08:59:00"]


def test_over_http() -> None:
    text = """
    CREATE TABLE t (k INT PRIMARY KEY, n INT NOT NULL CHECK (n < 10), m INT GENERATED ALWAYS AS (n * 2));
    CREATE VIEW v AS SELECT * FROM t;
    """
    with served(program=text) as (client, _):
        client.posted("t", [{"k": 1, "n": 1}, {"k": 2, "n": 2, "m": 4}])
        client.posted("t", [{"k": 1, "n": 3, "__op": "U"}, {"k": 2, "__op": "D"}])
        assert client.rows("/views/v") == [{"k": 1, "n": 3, "m": 6}]
        for row in ({"k": 5, "n": 10}, {"k": 5, "n": 11, "__op": "I"}, {"k": 5, "n": 1, "m": 3}):
            answer = client.post("/tables/t", json=[row])
            assert answer.status_code == 400 and "isn't" in answer.json()["error"]
        assert client.put("/tables/t", json=[{"k": 1, "n": 3}, {"k": 7, "n": 7}]).status_code == 200
        assert client.rows("/views/v") == [{"k": 1, "n": 3, "m": 6}, {"k": 7, "n": 7, "m": 14}]
        assert client.put("/tables/t", json=[{"k": 7, "n": 10}]).status_code == 400
        schema = client.get("/openapi.json").json()
        assert '"m"' in json.dumps(schema)


BEFORE = """
CREATE TABLE t ({}n INT, m INT{}); CREATE VIEW v AS SELECT n, m FROM t; CREATE VIEW w AS SELECT * FROM t;
"""


@pytest.mark.parametrize("key", ["", "k INT PRIMARY KEY, "])
def test_a_program_that_changes(spark: Any, tmp_path: Path, key: str) -> None:
    """Rows that are there are computed and looked at as those that come."""
    plain_ = BEFORE.format(key, "")
    given = [{"k": i, "n": i, "m": i * 10} if key else {"n": i, "m": i * 10} for i in range(5)]

    def opened(text: str) -> Pipeline:
        return dbsp.Pipeline(sql=text, state=tmp_path / "s", spark=spark, runner="inline", evolve=True)

    with opened(plain_) as p:
        p.insert("t", given)
        p.step()
    for broken in ("CHECK (n < 4)", "CONSTRAINT c CHECK (n + m <> 33)"):
        with pytest.raises(StateError, match=r"can't be changed: table 't': CHECK .* isn't met: n="):
            opened(BEFORE.format(key, f", {broken}"))
    with opened(
        BEFORE.format(key, ", s INT GENERATED ALWAYS AS (n + m), CHECK (n < 5), CHECK (s < 45)")
    ) as p:
        assert sorted(row["s"] for row in p["w"].rows()) == [0, 11, 22, 33, 44]
        with pytest.raises(DataError, match=r"CHECK \(s < 45\) isn't met"):
            p.insert("t", [given[4] | {"n": 3, "m": 50}])
        p.insert("t", [given[1] | ({"k": 9} if key else {})])
        p.step()
        assert sorted(row["s"] for row in p["w"].rows()) == [0, 11, 11, 22, 33, 44]
    with opened(BEFORE.format(key, ", s INT GENERATED ALWAYS AS (n - m), CHECK (n < 5)")) as p:
        assert sorted(row["s"] for row in p["w"].rows()) == [-36, -27, -18, -9, -9, 0]
        p.delete("t", [{"k": 9}] if key else [given[1]])
        p.step()
        assert sorted(row["s"] for row in p["w"].rows()) == [-36, -27, -18, -9, 0]
    with opened(BEFORE.format(key, ", s INT")) as p:  # from now on anybody's
        assert sorted(row["s"] for row in p["w"].rows()) == [-36, -27, -18, -9, 0]
        p.insert("t", [given[0] | {"s": 100} | ({"k": 10} if key else {})])
        p.step()
    with opened(BEFORE.format(key, ", s INT GENERATED ALWAYS AS (1)")) as p:
        assert [row["s"] for row in p["w"].rows()] == [1] * 6
        with suppress(DataError):
            p.insert("t", [given[0] | {"s": 2}])
            pytest.fail("it isn't 2")


@pytest.fixture(autouse=True)
def in_utc(spark: Any) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)
