"""SQL of a target: names stand in quotes, and what is written again is what was there."""

from __future__ import annotations

import pyarrow as pa

from dbsp.sql.plans.schemas import Field
from dbsp.targets.postgres.statements import PostgresStatements as Statements

COLUMNS = (Field("id", pa.int64(), False), Field('a "b"', pa.decimal128(9, 2)))


def test_names_and_types() -> None:
    statements = Statements("My schema.my%t", COLUMNS, ("id",))
    assert statements.target == '"My schema"."my%t"'
    assert (statements.steps, statements.note.split()[1]) == ('"My schema".dbsp_steps', '"My')
    assert statements.create[1] == (
        'CREATE TABLE IF NOT EXISTS "My schema"."my%t" '
        '("id" bigint NOT NULL, "a ""b""" numeric(9, 2), PRIMARY KEY ("id"))'
    )
    assert statements.quoted('a"b') == '"a""b"'


def test_of_a_key_alone_nothing_is_updated() -> None:
    both, alone = (Statements("t", columns, ("id",)) for columns in (COLUMNS, COLUMNS[:1]))
    assert both.apply[1].endswith('ON CONFLICT ("id") DO UPDATE SET "a ""b""" = EXCLUDED."a ""b"""')
    assert alone.apply[1].endswith('ON CONFLICT ("id") DO NOTHING')


def test_what_is_only_appended_has_no_key() -> None:
    statements = Statements("t", COLUMNS, ())
    assert "PRIMARY KEY" not in statements.create[1]
    assert statements.copy(False) == 'COPY "t" ("id", "a ""b""") FROM STDIN (FORMAT csv)'
