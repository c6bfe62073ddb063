"""Columns of a collated type: of tables and views, told to whoever reads them, kept, reopened, redeclared."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql.functions import col

from dbsp import plan
from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.openapi.types import row_schema
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.effort import examples

pytestmark = pytest.mark.spark

COLUMNS = (
    "id INT, s STRING COLLATE UTF8_LCASE, a ARRAY<STRING COLLATE UTF8_LCASE>, "
    "x STRUCT<s: STRING COLLATE UTF8_LCASE, i: INT>"
)
OTHER = "id INT, s STRING COLLATE UTF8_LCASE"
TABLES = """
CREATE TABLE t (id INT, s STRING, a ARRAY<STRING>, x STRUCT<s: STRING, i: INT>) DEFAULT COLLATION UTF8_LCASE;
CREATE TABLE w (id INT, s STRING COLLATE UTF8_LCASE);
"""
# equal texts are shown in lower case: which of them Spark shows follows from where rows lie
QUERIES = {
    "whole": "SELECT id, s, a, x FROM t",
    "g": "SELECT lower(s) AS s, count(*) AS n FROM t GROUP BY s",
    "over": "SELECT s, n FROM g WHERE s = 'A'",
    "nested": "SELECT count(*) AS n FROM t GROUP BY a, x",
    "field": "SELECT lower(x.s) AS s, max(x.i) AS i FROM t GROUP BY x.s",
    "joined": "SELECT t.id, w.id AS other FROM t JOIN w ON t.s = w.s AND t.x.s = w.s",
    "outer_": "SELECT t.id, t.s, w.s AS other FROM t LEFT JOIN w USING (s)",
    "exploded": "SELECT lower(e) AS e, count(*) AS n FROM t LATERAL VIEW explode(a) AS e GROUP BY e",
    "either": "SELECT lower(s) AS s FROM (SELECT s FROM t UNION SELECT s FROM w)",
    "found": "SELECT id, contains(s, 'A') AS c, startswith(s, 'b') AS b, instr(s, 'A') AS i, s "
    "IN ('A', 'z') AS o, "
    "replace(s, 'a', 'x') AS r, s LIKE 'a%' AS l, array_contains(a, 'A') AS k, s < 'b' AS e FROM t",
    "lesser": "SELECT id, least(s, 'b') AS s, coalesce(s, 'n') AS c, nullif(s, 'A') AS u FROM t",
    "there": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM w WHERE w.s = t.s AND w.id <= t.id)",
    "dearest": "SELECT id, (SELECT max(id) FROM w WHERE w.s = t.s) AS m FROM t",
    "leading": "SELECT id, s FROM t QUALIFY dense_rank() OVER (ORDER BY s) <= 1",
}
texts = st.sampled_from(["a", "A", "B", "b", "z", "", None])
rows = st.lists(st.tuples(st.integers(0, 3), texts, texts), max_size=4)
steps_of = st.lists(st.tuples(rows, st.lists(st.integers(0, 9), max_size=2)), min_size=1, max_size=3)
ALL = [(0, "a", "A"), (1, "A", "b"), (2, "b", "b"), (3, None, "z"), (1, "B", None), (1, "A", "a")]


def whole(row: tuple[int, str | None, str | None]) -> dict[str, Any]:
    id_, s, u = row
    return {"id": id_, "s": s, "a": [s, u], "x": {"s": u, "i": id_}}


def plain(value: Any) -> Any:
    """Without the classes that either side has for a row, a list and a struct."""
    if isinstance(value, dict):
        return tuple(map(plain, value.values()))
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


@pytest.fixture(scope="module")
def program(spark: Any) -> Program:
    views = "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in QUERIES.items())
    return compile_program(TABLES + views, session=spark)


@examples(1)
@given(steps=steps_of, partitions=st.integers(1, 2))
@example(steps=[(ALL, []), (ALL[:2], [0, 2]), ([], [1])], partitions=2)
def test_views_are_what_spark_has(spark: Any, program: Program, steps: list[Any], partitions: int) -> None:
    there: list[tuple[int, str | None, str | None]] = []
    other: list[tuple[int, str | None]] = []
    with Pipeline(program, runner="inline", partitions=partitions) as p:
        for came, going in steps:
            p.insert("t", [whole(row) for row in came])
            p.insert("w", [(id_, u) for id_, _, u in came])
            there += came
            other += [(id_, u) for id_, _, u in came]
            for at in going:
                if there:
                    p.delete("t", [whole(there.pop(at % len(there)))])
                    gone = other.pop(at % len(other))
                    p.delete("w", [gone])
            p.step()
            given_ = [whole(row) for row in there]
            for name, rows_, columns in (("t", given_, COLUMNS), ("w", other, OTHER)):
                frame = spark.createDataFrame(rows_, columns.replace(" COLLATE UTF8_LCASE", ""))
                types = zip(frame.columns, spark.createDataFrame([], columns).schema, strict=True)
                typed = frame.coalesce(1).select(*(col(c).cast(f.dataType) for c, f in types))
                typed.createOrReplaceTempView(name)
            for view, query in QUERIES.items():
                found = spark.sql(query)
                found.createOrReplaceTempView(view)
                assert Counter(plain(row) for row in p[view].rows()) == Counter(
                    map(plain, found.collect())
                ), (view, there)


def test_whoever_reads_a_view_is_told(spark: Any, program: Program, tmp_path: Path) -> None:
    with Pipeline(program, state=tmp_path, runner="inline") as p:
        p.insert("t", map(whole, ALL))
        p.step()
    with Pipeline(program, state=tmp_path, runner="inline") as p:
        assert [column.ddl for column in p["whole"].columns] == [
            *("int", "string collate UTF8_LCASE", "array<string collate UTF8_LCASE>"),
            "struct<`s`: string collate UTF8_LCASE, `i`: int>",
        ]
        described = row_schema(program.views["whole"].schema)["properties"]
        assert described["s"] == {"type": ["string", "null"], "description": "STRING COLLATE UTF8_LCASE"}
        assert p["whole"].to_arrow().schema.field("s").type == pa.string()
        assert p.sql("SELECT count(*) AS n FROM whole WHERE s = 'a'").rows() == [{"n": 3}]
        assert p.sql("SELECT count(DISTINCT s) AS n, count(DISTINCT x) AS m FROM whole").rows() == [
            {"n": 2, "m": 6}
        ]
        # which Spark evaluates
        assert p.sql("SELECT DISTINCT lower(s) AS s, rand() < 2 AS r FROM whole WHERE s = 'B'").rows() == [
            {"s": "b", "r": True}
        ]
        p.delete("t", [whole(ALL[0])])
        p.step()
        assert {"s": "a", "n": 2} in p["g"].rows()


def test_another_collation_is_another_type(spark: Any, tmp_path: Path) -> None:
    text = "CREATE TABLE t (id INT, s STRING{c}); CREATE VIEW v AS SELECT count(DISTINCT s) AS n FROM t;"
    old, new = (compile_program(text.format(c=c), session=spark) for c in (" COLLATE UTF8_LCASE", ""))
    with Pipeline(old, state=tmp_path, runner="inline") as p:
        p.insert("t", [(1, "a"), (2, "A")])
        p.step()
        assert p["v"].rows() == [{"n": 1}]
    assert old.fingerprint != new.fingerprint
    assert "kept         table t: of another type s" in str(plan(new, tmp_path))
    with Pipeline(new, state=tmp_path, runner="inline", evolve=True) as p:
        assert p["v"].rows() == [{"n": 2}]
    with Pipeline(old, state=tmp_path, runner="inline", evolve=True) as p:
        assert p["v"].rows() == [{"n": 1}]


def test_rows_are_judged_along_it(spark: Any) -> None:
    columns = "id INT, s STRING DEFAULT 'X', CHECK (s <> 'bad'), u STRING GENERATED ALWAYS AS (upper(s))"
    program = compile_program(
        f"CREATE TABLE t ({columns}) DEFAULT COLLATION UTF8_LCASE; CREATE VIEW v AS SELECT s, u FROM t;",
        session=spark,
    )
    with Pipeline(program, runner="inline") as p:
        p.insert("t", [{"id": 1}, {"id": 2, "s": "xX"}])
        p.step()
        assert p["v"].rows() == [{"s": "X", "u": "X"}, {"s": "xX", "u": "XX"}]
        with pytest.raises(Exception, match="CHECK"):
            p.insert("t", [{"id": 3, "s": "BaD"}])


BY_BYTES = """
CREATE TABLE b (s STRING PRIMARY KEY, u STRING, x STRUCT<s: STRING, i: INT>) DEFAULT COLLATION UTF8_BINARY;
CREATE RECURSIVE VIEW r (s STRING COLLATE UTF8_BINARY) AS SELECT s FROM b UNION SELECT upper(s) FROM r;
CREATE VIEW g AS SELECT u, count(*) AS n FROM b GROUP BY u;
CREATE VIEW o AS SELECT DISTINCT x.s AS s FROM b WHERE u COLLATE UTF8_BINARY = 'a' AND regexp_like(s, 'a');
CREATE VIEW m AS SELECT mode(u) AS m, sort_array(collect_set(u)) AS c FROM b;
CREATE VIEW d AS SELECT u FROM b EXCEPT ALL SELECT s FROM b;
"""


def test_a_target_is_upserted_by_the_texts_of_groups(spark: Any, tmp_path: Path) -> None:
    """Which are others when the rows go that they were the first of."""
    text = f"""
    CREATE TABLE t (id INT, s STRING COLLATE UTF8_LCASE);
    CREATE VIEW g AS SELECT s, count(*) AS n FROM t WHERE s IS NOT NULL GROUP BY s;
    CREATE TABLE kept (s STRING COLLATE UTF8_BINARY PRIMARY KEY, n BIGINT)
    USING sqlite OPTIONS (path '{tmp_path}/kept.db', dbtable 'kept');
    INSERT INTO kept SELECT s, n FROM g;
    """

    def kept() -> list[tuple[str, int]]:
        with closing(connect(tmp_path / "kept.db")) as connection:
            return connection.execute("SELECT s, n FROM kept ORDER BY s").fetchall()

    with Pipeline(compile_program(text, session=spark), runner="inline") as p:
        p.insert("t", [(1, "A"), (2, "a"), (3, "b")])
        p.step()
        assert (kept(), p["g"].lookup("A")) == ([("A", 2), ("b", 1)], [{"s": "A", "n": 2}])
        p.delete("t", [(1, "A")])
        p.insert("t", [(4, "B")])
        p.step()
        assert kept() == [("a", 1), ("b", 2)]
        p.delete("t", [(2, "a"), (3, "b"), (4, "B")])
        p.step()
        assert kept() == []


def test_utf8_binary_compares_bytes(spark: Any) -> None:
    program = compile_program(BY_BYTES, session=spark)
    assert [column.ddl for column in program.views["g"].schema] == ["string collate UTF8_BINARY", "bigint"]
    assert [column.ddl for column in program.views["o"].schema] == ["string collate UTF8_BINARY"]
    with Pipeline(program, runner="inline") as p:
        p.insert("b", [("a", "a", {"s": "B", "i": 1}), ("A", "a", {"s": "b", "i": 1})])
        p.insert("b", [("c", "A", {"s": "b", "i": 2})])
        p.step()
        p.delete("b", [("c",)])
        p.step()
        for view, rows_ in (
            ("r", [("A",), ("a",)]),
            ("g", [("a", 2)]),
            ("o", [("B",)]),
            ("m", [("a", ["a"])]),
            ("d", [("a",)]),
        ):
            assert [tuple(row.values()) for row in p[view].rows()] == rows_, view


KEY = "has a collation, by which texts that differ are one"
REFUSED = {
    "CREATE TABLE u (id INT, s STRING COLLATE UTF8_LCASE PRIMARY KEY);": f"column 's' of 'u' {KEY} key",
    "CREATE TABLE u (s STRING, PRIMARY KEY (s)) DEFAULT COLLATION UTF8_LCASE;": f"column 's' of "
    f"'u' {KEY} key",
    "CREATE RECURSIVE VIEW r (s STRING COLLATE UTF8_LCASE) AS "
    "SELECT s FROM t UNION SELECT s FROM r;": f"{KEY} row",
    "CREATE TABLE u (s STRING COLLATE NONE_SUCH);": "NONE_SUCH",
    "CREATE TABLE u (s STRING) DEFAULT COLLATION NONE_SUCH;": "NONE_SUCH",
    "CREATE VIEW x DEFAULT COLLATION UTF8_LCASE AS SELECT s FROM t;": "DEFAULT COLLATION "
    "UTF8_LCASE of a view",
    "CREATE VIEW x (s STRING) AS SELECT s FROM t;": "declared STRING, its query gives STRING "
    "COLLATE UTF8_LCASE",
}


@pytest.mark.parametrize(("statement", "why"), REFUSED.items())
def test_what_is_refused_says_why(spark: Any, statement: str, why: str) -> None:
    with pytest.raises(ProgramError) as error:
        compile_program(f"{TABLES} {statement} CREATE VIEW v AS SELECT id FROM t;", session=spark)
    assert why in str(error.value)
