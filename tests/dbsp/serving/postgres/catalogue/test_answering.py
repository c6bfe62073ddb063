"""psql, SQLAlchemy and drivers find their way."""

from __future__ import annotations

import asyncio
import datetime as dt
import subprocess
from decimal import Decimal
from typing import Any

import asyncpg
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from dbsp.serving.postgres.catalogue import answering
from tests.dbsp.serving.postgres.connected import Served, connected, shops
from tests.servers.postgres import binaries, postgres

pytestmark = pytest.mark.slow  # clients and servers of others


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


KEYED = """
CREATE TABLE noted (id BIGINT, day DATE, n INT DEFAULT 8, text STRING, PRIMARY KEY (day, id));
CREATE TABLE lines (id BIGINT PRIMARY KEY, `Of` STRING NOT NULL, price DECIMAL(10, 2));
CREATE VIEW by_day AS
SELECT day, count(*) AS n
  FROM noted GROUP BY day;
CREATE VIEW priced AS SELECT * FROM lines;
"""
REAL = """
CREATE TABLE noted (id BIGINT, day DATE, n INT NOT NULL DEFAULT 8, text TEXT, PRIMARY KEY (day, id));
CREATE TABLE lines (id BIGINT PRIMARY KEY, "Of" TEXT NOT NULL, price NUMERIC(10, 2));
"""


def _psql(port: Served, command: str) -> str:
    asked = [str(binaries() / "psql"), "-h", "127.0.0.1", "-p", str(port.port), "-U", "me", "-A", "dbsp"]
    done = subprocess.run([*asked, "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "ERROR" not in done.stderr and "FATAL" not in done.stderr, done.stderr
    return done.stdout


def test_psql_shows_what_there_is(port: Served) -> None:
    assert "public|turnover|view|dbsp\n" in _psql(port, r"\d")
    assert "total|numeric(20,2)|||\n" in _psql(port, r"\d turnover")
    assert "shop|text||not null|\n" in _psql(port, r"\d turnover")
    assert "id|bigint||not null|\n" in _psql(port, r"\d orders")
    assert "day|date||||plain|" in _psql(port, r"\d+ visits")
    assert "at|timestamp with time zone||||plain|" in _psql(port, r"\d+ latest")
    assert "dbsp|dbsp|UTF8|" in _psql(port, r"\l+") and "pg_default|" in _psql(port, r"\l+")
    for command in (
        *(r"\dt", r"\dv", r"\dn", r"\l", r"\du", r"\df", r"\dT", r"\di", r"\dm", r"\ds", r"\conninfo"),
        *(r"\dA+", r"\dAc", r"\dAf", r"\dAo", r"\dAp", r"\da", r"\db+", r"\dc", r"\dC", r"\dconfig", r"\dd"),
        *(r"\dD+", r"\ddp", r"\des+", r"\deu", r"\dew", r"\df+", r"\dF", r"\dFd", r"\dFp", r"\dFt", r"\dl"),
        *(r"\dL+", r"\do", r"\dO", r"\dp", r"\dP+", r"\drds", r"\dRp+", r"\dRs", r"\dT+", r"\dX", r"\dx"),
        *(r"\dy", r"\sv turnover", r"\d dbsp.public.turnover", r"\d *.*"),
    ):
        _psql(port, command)
    assert "s0|4|37.50\n" in _psql(port, "SELECT * FROM turnover ORDER BY shop")


@pytest.mark.spark
def test_psql_shows_keys_and_definitions() -> None:
    """As those of a real server."""
    with connected(program=KEYED) as here, postgres() as server, psycopg.connect(server.url) as one:
        one.execute(REAL)
        one.commit()
        for name in ("noted", "lines"):
            shows = [str(binaries() / "psql"), server.url, "-A", "-c", rf"\d {name}"]
            real = subprocess.run(shows, capture_output=True, text=True, timeout=60, check=True).stdout
            assert _psql(here, rf"\d {name}") == real
        shown = _psql(here, r"\d+ by_day")
        assert shown.endswith("View definition:\n SELECT day, count(*) AS n\n  FROM noted GROUP BY day;\n")
        asked = (
            "SELECT column_default FROM information_schema.columns WHERE (table_name, column_name) = (%s, %s)"
        )
        assert here.asked(asked, ("noted", "n")) == [("8",)]


def test_sqlalchemy_reflects_and_pandas_reads(port: Served) -> None:
    engine = sa.create_engine(f"postgresql+psycopg://me@127.0.0.1:{port.port}/dbsp")
    inspector = sa.inspect(engine)
    assert sorted(inspector.get_view_names()) == ["latest", "turnover", "visitors"]
    assert sorted(inspector.get_table_names()) == ["orders", "visits"]
    assert inspector.get_pk_constraint("orders")["constrained_columns"] == ["id"]
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    columns = {one["name"]: (str(one["type"]), one["nullable"]) for one in inspector.get_columns("turnover")}
    assert columns == {"shop": ("TEXT", False), "n": ("BIGINT", False), "total": ("NUMERIC(20, 2)", True)}
    turnover = sa.Table("turnover", sa.MetaData(), autoload_with=engine)
    with engine.connect() as one:
        found = one.execute(sa.select(turnover.c.n).where(turnover.c.shop == "s1")).all()
        assert [tuple(row) for row in found] == [(3,)]
    frame = pd.read_sql("SELECT shop, n FROM turnover ORDER BY shop", engine)
    assert frame.values.tolist() == [["s0", 4], ["s1", 3], ["s2", 3]]
    engine.dispose()


def test_information_schema_and_settings(port: Served) -> None:
    listed = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s ORDER BY 1"
    assert port.asked(listed, ("visitors",)) == [("day", "date"), ("shop", "text")]
    assert port.asked("SELECT current_schema(), current_database()") == [("public", "dbsp")]
    assert port.asked("SELECT 1") == [(1,)]
    assert port.asked("SHOW server_version")[0][0].startswith("17")


def test_nothing_of_the_database_that_answers_is_shown(port: Served) -> None:
    assert port.asked("SELECT current_catalog, current_database(), current_user") == [("dbsp",) * 3]
    others = port.asked("SELECT tablename FROM pg_tables UNION SELECT viewname FROM pg_catalog.pg_views")
    assert {name for (name,) in others} == {"orders", "visits", "turnover", "latest", "visitors"}
    for asked, kind, said in (
        ("SELECT pg_noting(1)", psycopg.errors.UndefinedFunction, "it has no function 'pg_noting'$"),
        ("SELECT * FROM pg_clas", psycopg.errors.UndefinedTable, "'pg_clas'; did you mean 'pg_class'"),
        ("SELECT name FROM pg_class", psycopg.errors.UndefinedColumn, "it has no column 'name' there$"),
        ("SELECT 1 FRM pg_class c d", psycopg.errors.SyntaxError, 'syntax error at or near "pg_class"$'),
    ):
        with pytest.raises(kind, match=said):
            port.asked(asked)


def test_values_without_a_table_keep_their_types(port: Served) -> None:
    moment = dt.datetime(2024, 1, 2, 3, 4, tzinfo=dt.UTC)
    with port.connect() as one:
        for value in (Decimal("1.50"), moment, moment.date(), [1, 2], [1 << 40], 2.5, True, 7, b"\0a"):
            assert one.execute("SELECT %s", (value,)).fetchall() == [(value,)]
        for query in ("SELECT current_timestamp", "SELECT now()", "SELECT current_timestamp, 1"):
            described = one.execute(query).description
            assert described is not None and described[0].type_code == 1184
        assert one.execute("SELECT conkey FROM pg_constraint").fetchall() == [([1],)]


def test_a_driver_knows_types_by_their_functions(port: Served) -> None:
    """As ADBC asks."""
    asked = (
        "SELECT oid, typname, typreceive FROM pg_catalog.pg_type "
        "WHERE (typreceive != 0 OR typsend != 0) AND typtype != 'r' AND typreceive::TEXT != 'array_recv'"
    )
    found = {name: (oid, receive) for oid, name, receive in port.asked(asked)}
    assert found["int8"] == (20, "int8recv") and found["numeric"] == (1700, "numeric_recv")
    assert "_text" not in found


# what tools ask: where something is found, how many rows
TOOLS = {
    "Metabase: tables": (
        "SELECT c.relname, NULLIF(stat.n_live_tup, 0) FROM pg_catalog.pg_class AS c "
        "JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid LEFT JOIN pg_stat_user_tables AS stat "
        "ON n.nspname = stat.schemaname AND c.relname = stat.relname WHERE c.relkind IN ('r', 'v')",
        5,
    ),
    "Metabase: privileges": (
        "SELECT pg_catalog.has_any_column_privilege(current_user, t.objectname, 'update') FROM "
        "(SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables UNION SELECT schemaname, "
        "viewname FROM pg_catalog.pg_views UNION SELECT schemaname, matviewname FROM pg_catalog.pg_matviews) "
        "t WHERE pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage')",
        5,
    ),
    "Grafana: tables": (
        "SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '\"$user\"' THEN user "
        "ELSE trim(s[i]) END FROM generate_series(array_lower(string_to_array(current_setting('search_path'),"
        "','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) AS i, "
        "string_to_array(current_setting('search_path'),',') s) THEN quote_ident(table_name) END "
        "FROM information_schema.tables",
        5,
    ),
    "Power BI: characters": ("SELECT character_set_name FROM INFORMATION_SCHEMA.character_sets", 1),
    "Power BI: keys": (
        "SELECT unique_constraint_name FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS r JOIN "
        "INFORMATION_SCHEMA.KEY_COLUMN_USAGE k ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA",
        0,
    ),
    "pgAdmin": (
        "SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()",
        1,
    ),
    "dbt": (
        "SELECT tablename FROM pg_tables WHERE schemaname ILIKE 'public' UNION ALL "
        "SELECT viewname FROM pg_views WHERE schemaname ILIKE 'public'",
        5,
    ),
    "DuckDB": (
        "SELECT pg_is_in_recovery(), pg_export_snapshot(), (SELECT count(*) FROM pg_stat_wal_receiver)",
        1,
    ),
    "JDBC: keywords": (
        "SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() "
        "WHERE word <> ALL ('{a,abs,select}'::text[])",
        1,
    ),
    "JDBC: names": (
        "SELECT t.typlen FROM pg_catalog.pg_type t, pg_catalog.pg_namespace n WHERE t.typnamespace = n.oid "
        "AND t.typname = 'name' AND n.nspname = 'pg_catalog'",
        1,
    ),
    "asyncpg": ("SELECT pg_advisory_unlock_all()", 1),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_what_tools_ask_is_answered(port: Served, tool: str) -> None:
    asked, count = TOOLS[tool]
    assert len(port.asked(asked)) == count


def test_asyncpgs_pool_takes_a_connection_back(port: Served) -> None:
    async def course() -> None:
        async with asyncpg.create_pool(
            host="127.0.0.1", port=port.port, user="me", database="dbsp", min_size=1, max_size=1
        ) as pool:
            for _ in range(2):
                async with pool.acquire() as one:
                    assert await one.fetchval("SELECT 1") == 1

    asyncio.run(course())


def test_it_reads_no_file_and_makes_nothing(port: Served) -> None:
    for query in (
        "SELECT * FROM pg_catalog.pg_class, read_csv('pyproject.toml')",
        "SELECT pg_catalog.version() FROM 'pyproject.toml'",
        "SELECT getenv('HOME'), version()",
    ):
        with pytest.raises(Exception, match="catalogue can't answer"):
            port.asked(query)


def test_what_would_never_end_is_ended(port: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "_SECONDS", 0.5)
    columns = ", ".join(f"pg_catalog.pg_attribute a{i}" for i in range(12))
    with pytest.raises(psycopg.errors.QueryCanceled, match="catalogue can't answer that: it takes too long"):
        port.asked(f"SELECT count(DISTINCT a0.attname || a11.attname) FROM {columns}")
    assert port.asked("SELECT 1") == [(1,)]
