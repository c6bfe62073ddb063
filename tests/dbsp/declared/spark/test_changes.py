"""AUTO CDC in SQL and in Python: what Spark takes is kept, and what it refuses is refused in its words."""

from __future__ import annotations

import random

import pytest

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.project.datasets import Place
from dbsp.declared.refresh import INCREMENTAL
from dbsp.declared.spark.changes import changes_start, clauses, in_words

pytestmark = pytest.mark.spark

INTO = "CREATE STREAMING TABLE one; CREATE FLOW f AS AUTO CDC INTO one "
FROM = f"{INTO}FROM STREAM(events) "
SQL = """
CREATE STREAMING TABLE raw AS SELECT * FROM STREAM(events);
CREATE STREAMING TABLE one COMMENT 'as it is' FLOW AUTO CDC
FROM STREAM raw KEYS (K) APPLY AS DELETE WHEN op IN ('d') -- and no other
SEQUENCE BY struct(s, 0 AS zero) COLUMNS * EXCEPT (op);
CREATE STREAMING TABLE two;
CREATE FLOW changes AS AUTO CDC INTO two FROM STREAM(events) KEYS (k) APPLY AS DELETE WHEN op = 'd'
SEQUENCE BY s COLUMNS (k, v, w) STORED AS SCD TYPE 2 TRACK HISTORY ON * EXCEPT (w);
CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n, sum(v) AS v FROM one;
"""
PYTHON = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.temporary_view
def seen():
    return spark.readStream.table("events").where("k IS NOT NULL")


dp.create_streaming_table("one")
dp.create_auto_cdc_flow(
    "one", "seen", ["k"], F.struct("s", F.lit(0).alias("zero")), F.col("op").isin("d"),
    except_column_list=[F.col("op")], name="changes",
)
dp.create_streaming_table("two", comment="as it was")
dp.create_auto_cdc_flow(
    target="two", source="events", keys=["k"], sequence_by="s", apply_as_deletes="op = 'd'",
    column_list=["k", "v", "w"], stored_as_scd_type=2, track_history_except_column_list=["w"],
)
"""
VIEW = "CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n, sum(v) AS v FROM one;"


@pytest.fixture
def events(project):
    project.sql("CREATE TABLE events (k STRING, s INT, v INT, w INT, op STRING) USING parquet")
    return project


def add(project, *rows: tuple):
    listed = ", ".join(f"('{k}', {s}, {v}, {w}, '{op}')" for k, s, v, w, op in rows)
    project.sql(f"INSERT INTO events SELECT /*+ COALESCE(1) */ * FROM VALUES {listed}")


def test_the_clauses_of_a_statement():
    statement = (
        "CREATE FLOW cdc AS AUTO CDC INTO auto FROM  STREAM(a.b) KEYS (k)\n"
        "APPLY AS DELETE WHEN (columns = 1 AND f('STORED AS SCD TYPE')) OR a IS DISTINCT FROM b\n"
        " SEQUENCE BY columns COLUMNS (apply, keys) TRACK HISTORY ON * EXCEPT (x)"
    )
    found = {words: statement[start:stop].strip() for words, (start, stop) in clauses(statement).items()}
    assert found["FROM"] == "STREAM(a.b)"
    assert (
        found["APPLY AS DELETE WHEN"] == "(columns = 1 AND f('STORED AS SCD TYPE')) OR a IS DISTINCT FROM b"
    )
    assert found["SEQUENCE BY"] == "columns"
    source, sequence, deletes = in_words(statement, lambda at: Place("a.sql", 1, at + 1))
    assert (source.text, source.place.column) == ("STREAM(a.b)", statement.index("STREAM(") + 1)
    assert (sequence.text, deletes.text[:8]) == ("columns", "(columns")
    assert statement[changes_start(statement) :].startswith("FROM  STREAM(a.b)")
    assert in_words("CREATE FLOW f AS AUTO CDC INTO t FROM s KEYS (k) SEQUENCE BY a", str)[2].text == "false"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"{FROM} KEYS (z) SEQUENCE BY s", r"AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA.*column `z` is not present"),
        (f"{FROM} KEYS (k) SEQUENCE BY s COLUMNS * EXCEPT (k)", "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA"),
        (f"{FROM} KEYS (k) SEQUENCE BY nothing", r"UNRESOLVED_COLUMN.*`nothing`"),
        (
            f"{FROM} KEYS (k)\nAPPLY AS DELETE WHEN\n  nothing SEQUENCE BY s",
            "definitions.sql:3:3: unknown column 'nothing'",
        ),
        (f"{FROM} KEYS (k) SEQUENCE BY\n  s + rand()", r"definitions.sql:2:7: rand\(\) is not deterministic"),
        (f"{FROM} KEYS (k) SEQUENCE BY map(k, v)", r"NON_ORDERABLE_SEQUENCE\] .*type MAP<STRING, INT>\."),
        (
            f"{FROM} KEYS (k) SEQUENCE BY\n  max(s)",
            r"definitions.sql:2:3: sequence_by .* takes no aggregate or",
        ),
        (
            f"{FROM} KEYS (k) SEQUENCE BY row_number() OVER (ORDER BY s)",
            "takes no aggregate or window function",
        ),
        (
            f"{FROM} KEYS (k) APPLY AS DELETE WHEN\n v SEQUENCE BY s",
            r"definitions.sql:2:2: apply_as_deletes .* is a condition, .*; this one has type INT",
        ),
        (
            f"{FROM} KEYS (k) APPLY AS DELETE WHEN k IN (SELECT k FROM events) SEQUENCE BY s",
            r"not supported yet: a subquery in apply_as_deletes .*; join what it reads in the source",
        ),
        (f"{FROM} KEYS (k) APPLY AS DELETE WHEN NULL SEQUENCE BY s", "this one has type VOID"),
        (
            "CREATE TEMPORARY VIEW mapped AS SELECT *, map(k, v) AS m FROM STREAM events;\n"
            f"{INTO} FROM STREAM mapped KEYS (k) SEQUENCE BY s STORED AS SCD TYPE 2",
            r"definitions.sql:2:\d+: .*INVALID_ORDERING_TYPE\] SCD TYPE 2 tracks column m .*MAP<STRING, INT>",
        ),
        (f"{INTO} FROM events KEYS (k) SEQUENCE BY s", "AUTO CDC source must be a streaming query"),
        (f"{FROM} KEYS (k) SEQUENCE BY s STORED AS SCD TYPE 3", "Unsupported SCD type: 3"),
        (
            f"{FROM} KEYS (k) SEQUENCE BY s;"
            "CREATE FLOW g AS INSERT INTO one BY NAME SELECT k FROM STREAM events",
            "AUTOCDC_MULTIPLE_FLOWS_TO_TARGET",
        ),
    ],
)
def test_what_is_wrong_is_said_in_sparks_words(events, sql, message):
    with pytest.raises(ProgramError, match=f"(?s){message}"):
        events.plan(f"{sql};")


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ('TO("here", "events", ["k"], "s", "v")', "definitions.py:4:1: apply_as_deletes .* has type INT"),
    ],
)
def test_what_is_wrong_in_python_has_its_place(events, python, message):
    text = (
        "from pyspark import pipelines as dp\nTO = dp.create_auto_cdc_flow\n"
        f'dp.create_streaming_table("here")\n{python}\n'
    )
    events.write(text, "definitions.py")
    with pytest.raises(ProgramError, match=message):
        events.plan("CREATE STREAMING TABLE raw AS SELECT * FROM STREAM(events);")


def test_names_that_only_type_2_has_may_be_columns_of_type_1(events):
    sql = (
        "CREATE TEMPORARY VIEW seen AS SELECT k, s, v AS __START_AT FROM STREAM events;"
        "CREATE STREAMING TABLE one FLOW AUTO CDC FROM STREAM seen KEYS (k) SEQUENCE BY s"
    )
    planned = events.plan(f"{sql};")
    assert [*planned.project.stored[0].columns] == ["k", "s", "__START_AT", "__spark_autocdc_metadata"]
    assert planned.compiled.refused == {}
    with pytest.raises(ProgramError, match="AUTOCDC_RESERVED_COLUMN_NAME_CONFLICT"):
        events.plan(f"{sql} STORED AS SCD TYPE 2;")


def test_what_changes_is_no_stream(events):
    sql = (
        f"{FROM} KEYS (k) SEQUENCE BY s; CREATE TEMPORARY VIEW few AS SELECT k, v FROM STREAM one;"
        "CREATE STREAMING TABLE down FLOW AUTO CDC FROM STREAM few KEYS (k) SEQUENCE BY v;"
        "CREATE STREAMING TABLE rows AS SELECT DISTINCT k, s FROM STREAM events;"
        "CREATE STREAMING TABLE unordered FLOW AUTO CDC FROM STREAM rows KEYS (k) SEQUENCE BY s;"
    )
    refused = {name.split("`")[-2]: why for name, why in events.plan(sql).compiled.refused.items()}
    assert refused.keys() == {"down", "unordered"}
    assert "would take rows back" in refused["down"]
    assert "rows of DISTINCT, by the order of arrival" in refused["unordered"]


JOINED = """
CREATE TEMPORARY VIEW pairs AS SELECT l.k, l.s + 10 * r.s AS s, l.v, r.w, r.op
FROM STREAM(events) AS l JOIN STREAM(events) AS r ON l.k = r.k AND l.v <= r.v;
CREATE TEMPORARY VIEW several AS SELECT k, x, s, v * x AS v, op FROM STREAM(events)
LATERAL VIEW explode(sequence(1, w)) AS x;
CREATE STREAMING TABLE of_pairs FLOW AUTO CDC FROM STREAM pairs KEYS (k)
APPLY AS DELETE WHEN op = 'd' SEQUENCE BY struct(s, v, w);
CREATE STREAMING TABLE of_several FLOW AUTO CDC FROM STREAM several KEYS (k, x)
APPLY AS DELETE WHEN op = 'd' SEQUENCE BY s COLUMNS (k, x, v);
CREATE STREAMING TABLE one_of_several FLOW AUTO CDC FROM STREAM several KEYS (k) SEQUENCE BY s COLUMNS (k, v)
STORED AS SCD TYPE 2;
"""
LAST = """SELECT {0} FROM (SELECT *, row_number() OVER (PARTITION BY {1} ORDER BY {2} DESC) AS n FROM {3})
WHERE n = 1 AND op <> 'd'"""


def test_sources_of_joins_and_of_explode(events):
    random_ = random.Random(4)
    numbers = random_.sample(range(100), 30)
    for _ in range(3):
        drawn = [(random_.choice("ab"), numbers.pop(), *random_.choices([1, 2, 3], k=2)) for _ in range(5)]
        add(events, *((*row, random_.choice("uud")) for row in drawn))
        events.run(JOINED)
        pairs = (
            "(SELECT l.k, l.s + 10 * r.s AS s, l.v, r.w, r.op FROM events AS l JOIN events AS r "
            "ON l.k = r.k AND l.v <= r.v)"
        )
        wanted = events.spark.sql(LAST.format("k, s, v, w", "k", "struct(s, v, w)", pairs))
        assert [row[:4] for row in events.rows("of_pairs")] == sorted(map(tuple, wanted.collect()))
        several = "(SELECT k, x, s, v * x AS v, op FROM events LATERAL VIEW explode(sequence(1, w)) AS x)"
        wanted = events.spark.sql(LAST.format("k, x, v", "k, x", "s", several))
        assert [row[:3] for row in events.rows("of_several")] == sorted(map(tuple, wanted.collect()))
        # of those of one event, which are equals, one is taken
        taken = [(row[0], row[2], row[3]) for row in events.rows("one_of_several")]
        given = {(row[0], row[1]) for row in events.rows("events")}
        assert {row[:2] for row in taken} <= given
        assert sum(end is None for _, _, end in taken) == len({k for k, _ in given})


@pytest.mark.parametrize("language", ["sql", "python"])
def test_tables_are_what_the_events_say(events, language):
    sql = SQL
    if language == "python":
        events.write(PYTHON, "definitions.py")
        sql = VIEW
    add(events, ("a", 1, 10, 0, "u"), ("b", 5, 20, 0, "u"), ("a", 3, 10, 1, "u"), ("c", 4, 1, 1, "u"))
    events.run(sql)
    assert [row[:4] for row in events.rows("one")] == [("a", 3, 10, 1), ("b", 5, 20, 0), ("c", 4, 1, 1)]
    assert [tuple(row[-1].upsertSequence) for row in events.rows("one")] == [(3, 0), (5, 0), (4, 0)]
    assert events.rows("two") == [
        ("a", 10, 1, 1, None, (3,)),  # one run: w isn't tracked
        ("b", 20, 0, 5, None, (5,)),
        ("c", 1, 1, 4, None, (4,)),
    ]
    add(events, ("a", 2, 11, 0, "u"), ("b", 3, 9, 9, "d"), ("c", 6, 0, 0, "d"))  # two of them are late
    done = events.run(sql)
    assert {one.how for one in done.values()} == {INCREMENTAL}
    assert [row[:4] for row in events.rows("one")] == [("a", 3, 10, 1), ("b", 5, 20, 0)]
    assert events.rows("counted") == [(2, 30)]
    assert [row[:-1] for row in events.rows("two")] == [
        ("a", 10, 0, 1, 2),
        ("a", 10, 1, 3, None),
        ("a", 11, 0, 2, 3),
        ("b", 20, 0, 5, None),
        ("c", 1, 1, 4, 6),
    ]
    add(events, ("c", 5, 7, 7, "u"), ("b", 5, 21, 0, "u"))  # before its delete; in place of its equal
    events.run(sql)
    assert [row[:4] for row in events.rows("one")] == [("a", 3, 10, 1), ("b", 5, 21, 0)]
    before = [events.rows("one")[0], *events.rows("two")[:3], *events.rows("two")[4:]]
    assert ("c", 7, 7, 5, 6, (5,)) in before
    done = events.run(sql, full_refresh_all=True)
    assert done["one"].written.inserted == 2
    # but for what is equal, of which nobody knows now which came first
    assert [events.rows("one")[0], *events.rows("two")[:3], *events.rows("two")[4:]] == before


def test_a_null_leaves_all_as_it_was(events):
    sql = f"{FROM} KEYS (k) SEQUENCE BY s; CREATE STREAMING TABLE raw AS SELECT k FROM STREAM events;"
    add(events, ("a", 1, 1, 1, "u"))
    events.run(sql)
    events.sql("INSERT INTO events VALUES (NULL, 1, 1, 1, 'u')")
    for _ in range(2):
        with pytest.raises(Error, match=r"AUTOCDC_MICROBATCH_VALIDATION.NULL_KEY\] .*\.one failed.*column k"):
            events.run(sql)
    assert events.rows("raw") == [("a",)]


def test_another_key_is_another_table_and_a_new_one_reads_from_the_start(events):
    add(events, ("a", 1, 1, 1, "u"))
    raw = "CREATE STREAMING TABLE raw AS SELECT * FROM STREAM events;"
    events.run(raw)
    with pytest.raises(Error, match=r"\(the order in which rows arrived\).*that is --full-refresh-all"):
        events.run(f"{raw}{FROM} KEYS (k) SEQUENCE BY s;")
    events.run(f"{FROM} KEYS (k) SEQUENCE BY s;", full_refresh_all=True)
    with pytest.raises(Error, match=r"has another query than before.*--full-refresh-all"):
        events.run(f"{FROM} KEYS (k, v) SEQUENCE BY s;")
