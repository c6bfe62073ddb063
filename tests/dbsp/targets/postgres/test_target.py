"""What a table in Postgres holds is what the view holds: every type, shape and kind of name."""

from __future__ import annotations

import threading
import time
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs.streaming import run
from dbsp.sql.compiler.load import compile_program
from dbsp.views.changes import Changes
from dbsp.views.explained.checks import notes
from tests.dbsp.targets.voting import random_steps
from tests.servers.postgres import Server

pytestmark = pytest.mark.spark

TYPES = """
id BIGINT, t TINYINT, s SMALLINT, i INT, f FLOAT, d DOUBLE, b BOOLEAN, n DECIMAL(20, 3), text STRING,
bytes BINARY, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ
"""
ROWS: list[tuple[Any, ...]] = [
    (
        1, -128, -32768, 2**31 - 1, 0.5, 0.1, True, Decimal("1.500"), 'a,"b"\\\n\t\\.', b"\x00\xff\\x",
        *[None] * 3
    ),
    (2, *[None] * 12),
    (
        -(2**63), 127, 0, -1, float("-inf"), 1e-320, False, Decimal("-99999999999999999.999"), "", b"",
        date(9999, 12, 31), datetime(1900, 1, 1, 0, 0, 0, 999999, UTC), datetime(1, 1, 1, 0, 0, 0, 1),
    ),
    (
        4, 0, 0, 0, -0.0, -0.0, True, Decimal(0), "\\N", b"NULL", date(1, 1, 1),
        datetime(2024, 3, 31, 1, 30, tzinfo=UTC), None
    ),
    (
        5, 0, 0, 0, 0.25, float("inf"), None, None, "NULL", None, date(1970, 1, 1), None,
        datetime(9999, 12, 31)
    ),
]  # fmt: skip
WRITTEN = f"""
CREATE TABLE given ({TYPES}, PRIMARY KEY (id));
CREATE VIEW shown AS SELECT * FROM given;
CREATE TABLE upserted ({TYPES}, PRIMARY KEY (id)) USING postgres OPTIONS (url '{{0}}');
INSERT INTO upserted SELECT * FROM shown;
CREATE TABLE logged ({TYPES}, __op STRING, __step BIGINT)
USING postgres OPTIONS (url '{{0}}', dbtable 'public.Log "1"');
INSERT INTO logged SELECT * FROM shown;
CREATE TABLE kept (a BIGINT, b BIGINT, c STRING, PRIMARY KEY (b, a)) USING postgres OPTIONS (url '{{0}}');
CREATE TABLE pair (a BIGINT NOT NULL, b BIGINT NOT NULL);
INSERT INTO kept (b, a, c) SELECT b, a, CAST(count(*) AS STRING) FROM pair GROUP BY b, a;
CREATE TABLE only_keys (a BIGINT PRIMARY KEY) USING postgres OPTIONS (url '{{0}}');
INSERT INTO only_keys SELECT DISTINCT a FROM pair;
"""


def test_every_type_and_shape(spark: Any, server: Server, tmp_path: Path) -> None:
    with Pipeline(
        compile_program(WRITTEN.format(server.url), session=spark), state=tmp_path, runner="inline"
    ) as p:
        p.insert("given", ROWS)
        p.step()
        p.upsert("given", [(2, *ROWS[0][1:])])
        p.delete("given", [(1,), (4,)])
        p.step()
        wanted = [tuple(row.values()) for row in p["shown"].rows()]
    listed = "id, t, s, i, f, d, b, n, text, bytes, day, at, local"
    assert server.rows(f"SELECT {listed} FROM upserted ORDER BY 1") == wanted
    log: Counter[Any] = Counter()
    for *row, op in server.rows(f'SELECT {listed}, __op FROM "Log ""1""" ORDER BY __step'):
        log[tuple(row)] += {"I": 1, "D": -1}[op]
    assert +log == Counter(wanted)


def test_random_changes_are_the_view(spark: Any, server: Server, tmp_path: Path) -> None:
    text = WRITTEN.format(server.url).replace("kept", "kept2").replace("only_keys", "keys2")
    text = text.replace("upserted", "upserted2").replace("Log", "Log2")
    with Pipeline(compile_program(text, session=spark), state=tmp_path, runner="inline") as p:
        p.store.durable = False
        for present in random_steps(p, "pair"):
            counted = Counter(present)
            assert server.rows("SELECT a, b, c FROM kept2 ORDER BY 1, 2") == sorted(
                (a, b, str(n)) for (a, b), n in counted.items()
            )
            assert server.rows("SELECT a FROM keys2 ORDER BY 1") == [
                (a,) for a in sorted({a for a, _ in counted})
            ]


SALE = "CREATE TABLE sale (shop STRING NOT NULL, n BIGINT, l ARRAY<INT>, t INTERVAL DAY TO SECOND);\n"


@pytest.mark.parametrize(
    ("target", "insert", "error"),
    [
        (
            "a STRING PRIMARY KEY, n BIGINT, __op STRING",
            "SELECT shop, count(*) FROM sale GROUP BY shop",
            "p.sql:3:1: column '__op' of 'out' says what a record does, and the table is to hold the rows",
        ),
        (
            "l ARRAY<INT>, __op STRING",
            "SELECT l FROM sale",
            "column 'l' of 'out' is ARRAY<INT>: postgres is gi",
        ),
        ("t INTERVAL DAY TO SECOND", "SELECT t FROM sale", "declare STRING or BIGINT and CAST it"),
        (
            "a STRING PRIMARY KEY",
            "SELECT shop FROM sale",
            "what is inserted has no stream key, so a key could",
        ),
        (
            "a STRING",
            "SELECT shop FROM sale",
            "can retract rows, which a table of rows can't; declare a column __weight",
        ),
    ],
)
def test_what_such_a_table_can_t_be(spark: Any, target: str, insert: str, error: str) -> None:
    text = f"{SALE}CREATE TABLE out ({target}) USING postgres;\nINSERT INTO out {insert};"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("using", "error"),
    [
        ("USING postgres", "p.sql:1:14: postgres is no stream, so it can't be read"),
        ("USING postgres OPTIONS (dbtabel 'x')", "postgres has no option 'dbtabel'; did you mean 'dbtable'?"),
        ("USING postgress", "unknown format 'postgress'; formats: "),
    ],
)
def test_what_is_said_of_a_source(spark: Any, using: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(
            f"CREATE TABLE t (a INT) {using};\nCREATE VIEW v AS SELECT a FROM t;", "p.sql", session=spark
        )
    assert error in str(raised.value)


def test_what_check_says_of_it(spark: Any) -> None:
    text = (
        "CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL);\n"
        "CREATE TABLE out (a INT PRIMARY KEY, b INT NOT NULL, __step BIGINT) USING postgres;\n"
        "INSERT INTO out SELECT * FROM t;"
    )
    promised = "sink out: upsert, exactly once: the step's number is committed with it, in dbsp_steps"
    assert list(notes(compile_program(text, session=spark))) == [promised]


def test_a_run_goes_on_while_the_server_is_down_and_catches_up(
    spark: Any, server: Server, tmp_path: Path
) -> None:
    for n in range(3):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{n}.json").write_text(f'{{"a": {n}}}\n')
    text = f"""
    CREATE TABLE t (a BIGINT) USING json OPTIONS (path '{tmp_path}/in', maxFilesPerTrigger '1')
    WITH (append_only = true);
    CREATE TABLE caught (a BIGINT) USING postgres OPTIONS (url '{server.url}');
    INSERT INTO caught SELECT * FROM t;
    """
    stop, found = threading.Event(), list[tuple[Any, ...]]()

    def look() -> None:
        deadline = time.monotonic() + 180
        while len(found) < 3 and time.monotonic() < deadline:
            time.sleep(0.2)
            found[:] = server.rows("SELECT a FROM caught ORDER BY 1")
        stop.set()

    def on_step(changes: Changes) -> None:
        if changes.step == 3:
            server.start()
            server.execute("CREATE TABLE IF NOT EXISTS caught (a bigint)")
            threading.Thread(target=look).start()

    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", runner="inline", spark=spark, max_undelivered=5) as p:
        server.kill()
        assert run(p, on_step=on_step, stop=stop) == 3
    assert found == [(0,), (1,), (2,)]
