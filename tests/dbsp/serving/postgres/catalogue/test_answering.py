"""psql, SQLAlchemy and drivers find their way."""

from __future__ import annotations

import subprocess
from typing import Any

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
    assert not done.stderr.replace("Did not find any relations.\n", ""), done.stderr
    return done.stdout


def test_psql_shows_what_there_is(port: Served) -> None:
    assert "public|turnover|view|dbsp\n" in _psql(port, r"\d")
    assert "total|numeric(20,2)|||\n" in _psql(port, r"\d turnover")
    assert "shop|text||not null|\n" in _psql(port, r"\d turnover")
    assert "id|bigint||not null|\n" in _psql(port, r"\d orders")
    assert "day|date||||plain|" in _psql(port, r"\d+ visits")
    assert "at|timestamp with time zone||||plain|" in _psql(port, r"\d+ latest")
    for command in (
        r"\dt",
        r"\dv",
        r"\dn",
        r"\l",
        r"\du",
        r"\df",
        r"\dT",
        r"\di",
        r"\dm",
        r"\ds",
        r"\conninfo",
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
    with pytest.raises(psycopg.errors.DataException, match=r"catalogue can't answer that: INTERRUPT"):
        port.asked(f"SELECT count(DISTINCT a0.attname || a11.attname) FROM {columns}")
    assert port.asked("SELECT 1") == [(1,)]
