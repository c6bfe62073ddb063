"""A compiled program: what it says of its tables, views and inserts, and what its fingerprint stands for."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call
from dbsp.sql.compiler.load import compile_program, load_program
from dbsp.sql.plans.nodes import Project
from dbsp.sql.plans.schemas import Field
from tests.sql.compiling import compiled, view

pytestmark = pytest.mark.spark


def test_tables_and_views_are_as_declared(spark: Any) -> None:
    program = compiled(
        "CREATE LOCAL VIEW a AS SELECT id, kind FROM event;\n"
        "CREATE MATERIALIZED VIEW b (n) AS SELECT count(*) FROM a;",
        spark,
    )
    customer = program.tables["customer"]
    assert customer.primary_key == ("id",)
    assert customer.schema == (
        Field("id", pa.int32(), nullable=False),
        Field("name", pa.string()),
        Field("since", pa.date32()),
    )
    assert program.tables["out"].format == "csv"
    assert program.tables["out"].options == {"path": "out"}
    assert [(v.name, v.kind, v.append_only) for v in program.views.values()] == [
        ("bad_rows", "view", True),  # of `out`, which this program reads
        ("a", "local", True),
        ("b", "materialized", False),
    ]
    assert program.views["b"].schema == (Field("n", pa.int64(), nullable=False),)
    assert program.views["b"].location == "p.sql:6:26"


def test_a_keyed_table_is_never_append_only(spark: Any) -> None:
    program = compile_program(
        "CREATE TABLE k (id INT PRIMARY KEY) WITH (append_only = true); CREATE VIEW v AS SELECT id FROM k",
        session=spark,
    )
    assert not program.views["v"].append_only


def test_an_insert_names_a_view_or_makes_one(spark: Any) -> None:
    program = compiled(
        "CREATE VIEW v AS SELECT id, 'x' AS note FROM event;\n"
        "CREATE LOCAL VIEW w AS SELECT id, 'y' AS note FROM event;\n"
        "INSERT INTO out SELECT * FROM v;\n"
        "INSERT INTO OUT SELECT * FROM w;\n"
        "INSERT INTO out SELECT id, note FROM v WHERE id > 3;",
        spark,
    )
    assert [(insert.target, insert.view) for insert in program.inserts] == [
        ("out", "v"),
        ("out", "insert into OUT #2"),
        ("out", "insert into out #3"),
    ]
    assert all(program.views[insert.view].kind == "view" for insert in program.inserts)


@pytest.mark.parametrize(
    ("emission", "target", "waits"),
    [
        ("EMIT (COMPLETE RESULT OFFSET INTERVAL 0 SECONDS)", "", True),
        ("EMIT (COMPLETE RESULT OFFSET INTERVAL 0 SECONDS)", " WITH (changelog = 'upsert')", False),
        ("TRIGGER ON WATERMARK", " WITH (changelog = 'upsert')", False),
    ],
)
def test_what_leaves_once_waits_while_more_may_come(
    spark: Any, emission: str, target: str, waits: bool
) -> None:
    text = (
        "CREATE TABLE t (at TIMESTAMP LATENESS INTERVAL 1 MINUTE);"
        "CREATE VIEW v AS SELECT window.end AS until, count(*) AS n FROM t GROUP BY window(at, '1 hour')"
        f" {emission}; CREATE TABLE out (until TIMESTAMP, n BIGINT, PRIMARY KEY (until)) USING json "
        f"OPTIONS (path 'out'){target}; INSERT INTO out SELECT * FROM v;"
    )
    text = text if target else text.replace(", PRIMARY KEY (until)", "")
    assert compile_program(text, session=spark).waits_for_more == waits


def test_the_fingerprint_is_of_the_meaning(spark: Any) -> None:
    def fingerprint(text: str) -> str:
        return compiled(text, spark).fingerprint

    first = fingerprint("CREATE VIEW v AS SELECT id+1 AS x FROM orders")
    assert first == fingerprint("create view v as  select id + 1 as x -- the next\nfrom orders")
    assert first != fingerprint("CREATE VIEW v AS SELECT id+2 AS x FROM orders")
    assert first != fingerprint("CREATE VIEW v AS SELECT id+1 AS y FROM orders")


def test_a_program_is_plain_data(spark: Any) -> None:
    program = compiled("CREATE VIEW v AS SELECT note, count(*) AS n FROM orders GROUP BY note", spark)
    assert pickle.loads(pickle.dumps(program)) == program


def test_the_session_gives_the_time_zone_and_keeps_its_own_views(spark: Any) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.range(1).createOrReplaceTempView("orders")
    program = compiled("CREATE VIEW v AS SELECT hour(ts) AS h FROM orders", session)
    assert program.timezone == "Asia/Tokyo"
    plan = program.views["v"].plan
    assert isinstance(plan, Project)
    hour = plan.expressions[0]
    assert isinstance(hour, Call)
    assert hour.option("timeZoneId") == "Asia/Tokyo"
    assert session.table("orders").columns == ["id"]
    assert session.conf.get("spark.sql.optimizer.excludedRules", "") == ""


def test_calls_keep_the_users_spelling(spark: Any) -> None:
    plan = view("SELECT upper(  note ) AS u FROM orders", spark).plan
    assert isinstance(plan, Project)
    assert isinstance(plan.expressions[0], Call)
    assert (plan.expressions[0].function, plan.expressions[0].text) == ("upper", "upper( note )")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"nowhere\.sql: can't read the program: No such file"):
        load_program(tmp_path / "nowhere.sql")
    (tmp_path / "bytes.sql").write_bytes(b"\xff\xfe")
    with pytest.raises(ProgramError, match="it is no UTF-8 text"):
        load_program(str(tmp_path / "bytes.sql"))


def test_an_active_session_gives_no_time_zone(spark: Any) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        program = compile_program(
            "CREATE TABLE t (ts TIMESTAMP); CREATE VIEW v AS SELECT hour(ts) AS h FROM t"
        )
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert program.timezone == "UTC"
