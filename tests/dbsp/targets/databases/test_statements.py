"""What databases spell alike: names stand in quotes, and what is written again is what was there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from dbsp.sql.plans.schemas import Field
from dbsp.targets.databases.statements import quoted, target_name
from dbsp.targets.duckdb.target import DuckdbStatements
from dbsp.targets.sqlite.target import SqliteStatements
from tests.dbsp.build import table

COLUMNS = (Field("id", pa.int64(), False), Field('a "b"', pa.string()))


def test_the_target_has_the_name_that_options_give() -> None:
    given = {"DBTABLE": "s.u"}, {}
    outlets: list[Any] = [SimpleNamespace(table=replace(table("t", COLUMNS), options=one)) for one in given]
    assert [target_name(outlet) for outlet in outlets] == ["s.u", "t"]


def test_a_name_stands_in_quotes() -> None:
    assert (quoted('a"b'), quoted("a`b", "`")) == ('"a""b"', "`a``b`")


def test_what_there_must_be() -> None:
    statements = DuckdbStatements("s.t%", COLUMNS, ("id",))
    assert statements.create == [
        'CREATE TABLE IF NOT EXISTS "s".dbsp_steps '
        "(target text PRIMARY KEY, writer text NOT NULL, step bigint NOT NULL)",
        'CREATE TABLE IF NOT EXISTS "s"."t%" ("id" bigint NOT NULL, "a ""b""" varchar, PRIMARY KEY ("id"))',
    ]
    assert statements.stage == (
        'CREATE TEMPORARY TABLE dbsp_staged ("id" bigint, "a ""b""" varchar, "__op" text)'
    )


def test_what_is_staged_is_applied() -> None:
    assert SqliteStatements("t", COLUMNS, ("id",)).apply == [
        'DELETE FROM "t" WHERE "id" IN (SELECT "id" FROM temp.dbsp_staged WHERE "__op" = \'D\')',
        'INSERT INTO "t" ("id", "a ""b""") SELECT "id", "a ""b""" FROM temp.dbsp_staged '
        'WHERE "__op" <> \'D\' ON CONFLICT ("id") DO UPDATE SET "a ""b""" = EXCLUDED."a ""b"""',
    ]
    both = SqliteStatements("t", COLUMNS, ("id", 'a "b"')).apply
    assert both[0].startswith('DELETE FROM "t" WHERE ("id", "a ""b""") IN (SELECT "id", "a ""b""" FROM')
    assert both[1].endswith("DO NOTHING")
