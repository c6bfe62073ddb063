"""What a Delta table holds is what the view holds, to any reader: every type, shape and kind of name."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.testing.bags import arrow_values, identity
from dbsp.views.explained.checks import notes
from tests.dbsp.targets.voting import random_steps

pytestmark = pytest.mark.spark

TYPES = """
id BIGINT, t TINYINT, s SMALLINT, i INT, f FLOAT, d DOUBLE, b BOOLEAN, n DECIMAL(38, 3), text STRING,
bytes BINARY, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, l ARRAY<STRUCT<a: INT, m: MAP<STRING, DOUBLE>>>
"""
NESTED = [{"a": 1, "m": [("x", 0.5), ("y", None)]}, None, {"a": None, "m": None}]
ROWS: list[tuple[Any, ...]] = [
    (
        1, -128, -32768, 2**31 - 1, 0.5, 0.1, True, Decimal("1.500"), 'a,"b"\\\n\t\\.', b"\x00\xff\\x",
        *[None] * 4
    ),
    (2, *[None] * 13),
    (
        -(2**63), 127, 0, -1, float("-inf"), 1e-320, False, Decimal("-9" * 1 + "9" * 34 + ".999"), "", b"",
        date(9999, 12, 31), datetime(1900, 1, 1, 0, 0, 0, 999999, UTC), datetime(1, 1, 1, 0, 0, 0, 1), NESTED,
    ),
    (
        4, 0, 0, 0, -0.0, -0.0, True, Decimal(0), "\\N", b"NULL", date(1, 1, 1),
        datetime(2024, 3, 31, 1, 30, tzinfo=UTC), None, []
    ),
    (
        5, 0, 0, 0, 0.25, float("nan"), None, None, "NULL", None, date(1970, 1, 1), None,
        datetime(9999, 12, 31), [None]
    ),
]  # fmt: skip
WRITTEN = f"""
CREATE TABLE given ({TYPES}, PRIMARY KEY (id));
CREATE VIEW shown AS SELECT * FROM given;
CREATE TABLE upserted ({TYPES}, PRIMARY KEY (id)) USING delta OPTIONS (path '{{0}}/upserted');
INSERT INTO upserted SELECT * FROM shown;
CREATE TABLE logged ({TYPES}, __op STRING, __step BIGINT) USING delta
OPTIONS (path '{{0}}/logged', 'delta.appendOnly' 'true');
INSERT INTO logged SELECT * FROM shown;
CREATE TABLE kept (`A"b.c d` BIGINT, b BIGINT, `é, 1` STRING, PRIMARY KEY (b, `A"b.c d`)) USING delta
OPTIONS (path '{{0}}/kept');
CREATE TABLE pair (a BIGINT NOT NULL, b BIGINT NOT NULL);
INSERT INTO kept (b, `A"b.c d`, `é, 1`) SELECT b, a, CAST(count(*) AS STRING) FROM pair GROUP BY b, a;
CREATE TABLE only_keys (a BIGINT PRIMARY KEY) USING DELTA OPTIONS (PATH '{{0}}/only_keys');
INSERT INTO only_keys SELECT DISTINCT a FROM pair;
"""


def table(path: Path) -> Any:
    return DeltaTable(path).to_pyarrow_table()


def counted(rows: Any) -> Counter[Any]:
    return Counter(identity(row) for row in arrow_values(rows))


def test_every_type_and_shape(spark: Any, tmp_path: Path) -> None:
    program = compile_program(WRITTEN.format(tmp_path), session=spark)
    with Pipeline(program, state=tmp_path / "state", runner="inline") as p:
        p.insert("given", ROWS)
        p.step()
        assert counted(table(tmp_path / "upserted")) == counted(p["shown"].to_arrow())
        p.upsert("given", [(2, *ROWS[0][1:])])
        p.delete("given", [(1,), (4,)])
        p.step()
        shown = p["shown"].to_arrow()
        assert counted(table(tmp_path / "upserted").select(shown.schema.names)) == counted(shown)
        log: Counter[Any] = Counter()
        for *row, op, _ in arrow_values(table(tmp_path / "logged")):
            log[identity(tuple(row))] += {"I": 1, "D": -1}[op]
        assert +log == counted(shown)
    assert DeltaTable(tmp_path / "logged").metadata().configuration["delta.appendOnly"] == "true"
    assert DeltaTable(tmp_path / "upserted").version() == 3  # made, claimed, and a commit a step


def test_random_changes_are_the_view(spark: Any, tmp_path: Path) -> None:
    program = compile_program(WRITTEN.format(tmp_path), session=spark)
    with Pipeline(program, state=tmp_path / "state", runner="inline") as p:
        p.store.durable = False
        for step, present in enumerate(random_steps(p, "pair")):
            wanted = {(a, b, str(n)) for (a, b), n in Counter(present).items()}
            assert Counter(arrow_values(table(tmp_path / "kept"))) == Counter(wanted), step
            keys = arrow_values(table(tmp_path / "only_keys"))
            assert Counter(keys) == Counter({(a,) for a, _ in present}), step
        # another reader of Parquet, of the files that the log names
        files = DeltaTable(tmp_path / "kept").file_uris()
        assert set(duckdb.sql(f"FROM read_parquet({files!r})").fetchall()) == wanted


def test_a_table_with_partitions_keeps_them(spark: Any, tmp_path: Path) -> None:
    text = (
        "CREATE TABLE t (a BIGINT PRIMARY KEY, day STRING);\n"
        f"CREATE TABLE out (a BIGINT PRIMARY KEY, day STRING) USING delta OPTIONS (path '{tmp_path}/out');\n"
        "INSERT INTO out SELECT * FROM t;"
    )
    program = compile_program(text, session=spark)
    schema = program.tables["out"].schema
    DeltaTable.create(tmp_path / "out", pa.schema([(c.name, c.type) for c in schema]), partition_by=["day"])
    with Pipeline(program, state=tmp_path / "state", runner="inline") as p:
        p.insert("t", [(1, "mon"), (2, "tue"), (3, None)])
        p.step()
        p.upsert("t", [(1, "tue"), (4, "mon")])
        p.step()
        p.delete("t", [(3,)])
        p.step()
        assert Counter(arrow_values(table(tmp_path / "out"))) == Counter([(1, "tue"), (2, "tue"), (4, "mon")])
    assert {uri.split("/")[-2] for uri in DeltaTable(tmp_path / "out").file_uris()} == {"day=mon", "day=tue"}


SALE = "CREATE TABLE sale (shop STRING NOT NULL, n BIGINT, l ARRAY<INTERVAL DAY TO SECOND>);\n"


@pytest.mark.parametrize(
    ("target", "using", "insert", "error"),
    [
        ("shop STRING, __op STRING", "", "SELECT shop FROM sale", "'out' USING delta needs OPTIONS (path"),
        (
            "l ARRAY<INTERVAL DAY TO SECOND>, __op STRING",
            "OPTIONS (path 'x')",
            "SELECT l FROM sale",
            "p.sql:2:19: column 'l' of 'out' is ARRAY<INTERVAL DAY TO SECOND>: delta is given no such values",
        ),
        (
            "`a``b` STRING, __op STRING",
            "OPTIONS (path 'x')",
            "SELECT shop FROM sale",
            "p.sql:2:19: column 'a`b' of 'out' is STRING: delta has no such names",
        ),
        (
            "shop STRING, __op STRING",
            "OPTIONS (path 'x') PARTITIONED BY (shop)",
            "SELECT shop FROM sale",
            "make the table with its partitions, and leave it out here",
        ),
    ],
)
def test_what_such_a_table_can_t_be(spark: Any, target: str, using: str, insert: str, error: str) -> None:
    text = f"{SALE}CREATE TABLE out ({target}) USING delta {using};\nINSERT INTO out {insert};"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert error in str(raised.value)


def test_what_check_says_of_it(spark: Any) -> None:
    text = (
        "CREATE TABLE t (a INT PRIMARY KEY);\n"
        "CREATE TABLE out (a INT PRIMARY KEY) USING delta OPTIONS (path 'x');\n"
        "INSERT INTO out SELECT * FROM t;"
    )
    promised = "exactly once: the step's number is a transaction of the commit that adds it"
    assert list(notes(compile_program(text, session=spark))) == [f"sink out: upsert, {promised}"]
