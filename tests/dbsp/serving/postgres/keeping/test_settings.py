"""A session's settings, and its time zone: times are shown as a real server shows them, and read in it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.serving.postgres.keeping.settings import Settings
from dbsp.serving.postgres.language.configuring import Call
from dbsp.serving.postgres.language.spelling import statements
from dbsp.serving.postgres.language.wrong import Wrong
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.postgres.test_transaction import writing
from tests.effort import examples
from tests.servers.postgres import postgres

PROGRAM = """
CREATE TABLE given (id INT PRIMARY KEY, moment TIMESTAMP, local TIMESTAMP_NTZ);
CREATE VIEW held AS SELECT id, moment, local FROM given;
"""
ZONES = [
    *("Europe/Berlin", "America/St_Johns", "Asia/Kolkata", "Africa/Monrovia", "UTC", "Pacific/Kiritimati"),
    *("+02", "-9.5", "<-03:30>+03:30", "UTC+3"),
]
_LOW, _HIGH = dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29)
MOMENTS = st.datetimes(_LOW, _HIGH) | st.datetimes(dt.datetime(1880, 1, 1), dt.datetime(2030, 1, 1))


def said(settings: Settings, *texts: str) -> None:
    for text in texts:
        (words,) = statements(text)
        (settings.reset if text.startswith("RESET") else settings.set)(words)


def test_names_and_spellings() -> None:
    settings = Settings("Asia/Tokyo")
    assert settings.zone == "Asia/Tokyo"
    for text in (
        "SET TIME ZONE 'europe/berlin'",
        "SET SESSION timezone TO 'Europe/Berlin'",
        'SET "timezone" = "Europe/Berlin"',
        "SET SESSION TIME ZONE 'Europe/Berlin'",
    ):
        said(settings, text)
        assert settings.shown(statements("SHOW TIME ZONE")[0]) == ("TimeZone", "Europe/Berlin")
        said(settings, "RESET timezone")
        assert settings.zone == "Asia/Tokyo"
    for text in ("SET TIME ZONE LOCAL", "SET timezone TO DEFAULT", "RESET ALL", "RESET TIME ZONE"):
        said(settings, "SET TIME ZONE 'UTC'", text)
        assert settings.zone == "Asia/Tokyo"
    said(settings, "SET LOCAL timezone = 'UTC'", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    assert settings.zone == "Asia/Tokyo"


def test_what_is_no_time_zone_is_refused() -> None:
    settings = Settings("UTC")
    with pytest.raises(Wrong, match="give a region, such as 'Europe/Berlin', or hours") as raised:
        said(settings, "SET TIME ZONE 'Europe/Berlim'")
    assert raised.value.code == "22023" and "did you mean 'Europe/Berlin'" in str(raised.value)
    with pytest.raises(Wrong, match="unknown time zone '- 19'"):
        said(settings, "SET TIME ZONE - 19")
    assert settings.zone == "UTC"


def test_offsets() -> None:
    settings = Settings("GMT+3")
    assert (settings.zone, settings.values["TimeZone"]) == ("+03:00", "<+03>-03")
    said(settings, "SET TIME ZONE -5")
    assert (settings.zone, settings.values["TimeZone"]) == ("-05:00", "<-05>+05")
    said(settings, "SET timezone = INTERVAL '+05:30' HOUR TO MINUTE")
    assert (settings.zone, settings.values["TimeZone"]) == ("+05:30", "<+05:30>-05:30")
    said(settings, "RESET timezone")
    assert settings.zone == "+03:00"


def test_functions_set_and_ask() -> None:
    settings = Settings("UTC")
    assert settings.called(Call("a", "set_config", ("timezone", "asia/tokyo", "false"))) == "Asia/Tokyo"
    assert settings.called(Call("b", "current_setting", ("TimeZone",))) == settings.zone == "Asia/Tokyo"
    assert settings.called(Call("b", "current_setting", ("nothing", "true"))) is None
    settings.begin()
    assert settings.called(Call("a", "set_config", ("TimeZone", "UTC", "true"))) == "UTC"
    settings.end(committed=True)
    assert settings.zone == "Asia/Tokyo"
    with pytest.raises(Wrong, match="unknown time zone 'x'"):
        settings.called(Call("a", "set_config", ("TimeZone", "x", "false")))
    with pytest.raises(Wrong, match="texts are UTF8"):
        settings.called(Call("a", "set_config", ("client_encoding", "LATIN1", "false")))


def test_strings_are_read_in_one_way() -> None:
    settings = Settings("UTC")
    with pytest.raises(Wrong, match="standard_conforming_strings = off: a backslash in") as wrong:
        said(settings, "SET standard_conforming_strings = off")
    assert wrong.value.code == "0A000"
    said(settings, "SET standard_conforming_strings TO true")
    assert settings.values["standard_conforming_strings"] == "on"


def test_how_long_a_statement_may_take() -> None:
    settings = Settings("UTC", 90)
    assert (settings.timeout, settings.values["statement_timeout"]) == (None, "90s")
    for text, seconds, shown in (
        ("SET statement_timeout = 2000", 2, "2s"),
        ("SET statement_timeout TO '500ms'", 0.5, "500ms"),
        ("SET statement_timeout = 1 min", 60, "1min"),
        ("SET statement_timeout = 0", None, "0"),
        ("RESET statement_timeout", None, "90s"),
    ):
        said(settings, text)
        assert (settings.timeout, settings.values["statement_timeout"]) == (seconds, shown)
    settings.start({"options": "-c statement_timeout=3s"})
    said(settings, "SET statement_timeout = 1", "SET statement_timeout TO DEFAULT")
    assert settings.timeout == 3
    with pytest.raises(Wrong, match="statement_timeout = 'soon': give milliseconds") as raised:
        said(settings, "SET statement_timeout = 'soon'")
    assert raised.value.code == "22023"


def test_a_transaction_keeps_or_takes_back() -> None:
    settings = Settings("UTC")
    for committed, left in ((False, "UTC"), (True, "Asia/Tokyo")):
        settings.begin()
        said(settings, "SET timezone = 'Asia/Tokyo'", "SET LOCAL timezone = 'Europe/Berlin'")
        assert settings.zone == "Europe/Berlin"
        settings.end(committed)
        assert settings.zone == left


def test_what_a_client_begins_with() -> None:
    settings = Settings("UTC")
    settings.start({"options": "-c timezone=asia/tokyo -c search_path=x", "application_name": "me"})
    assert (settings.zone, settings.values["application_name"]) == ("Asia/Tokyo", "me")
    said(settings, "SET timezone = 'UTC'", "RESET timezone")
    assert settings.zone == "Asia/Tokyo"
    settings.start({"TimeZone": "GMT-02:00"})  # as Java says what is no region
    assert settings.zone == "+02:00"
    settings.start({"TimeZone": "Mars/Base"})
    assert settings.zone == "+02:00"


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected(program=PROGRAM) as served:
        yield served


@pytest.fixture(scope="module")
def real() -> Iterator[psycopg.Connection[Any]]:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        one.execute("CREATE TABLE held (id INT, moment TIMESTAMPTZ, local TIMESTAMP)")
        yield one


@pytest.mark.slow  # a real server
@given(moments=st.lists(st.none() | MOMENTS, min_size=1, max_size=8), zone=st.sampled_from(ZONES))
@examples(25)
def test_times_are_shown_as_by_a_real_server(
    port: Served, real: psycopg.Connection[Any], moments: list[dt.datetime | None], zone: str
) -> None:
    rows = [(i, m and m.replace(tzinfo=dt.UTC), m) for i, m in enumerate(moments)]
    pipeline = port.serving.pipeline
    with pipeline.turn:
        pipeline.replace("given", [dict(zip(("id", "moment", "local"), row, strict=True)) for row in rows])
        pipeline.step()
    real.execute("TRUNCATE held")
    with real.cursor() as cursor, port.connect(options=f"-c timezone={zone}") as one:
        cursor.execute(f"SET TIME ZONE '{zone}'".encode())
        cursor.executemany("INSERT INTO held VALUES (%s, %s, %s)", rows)
        for copy in ("COPY held TO STDOUT", "COPY held TO STDOUT (FORMAT csv, NULL 'x')"):
            found = []
            for connection in (one, real):
                with connection.cursor().copy(copy.encode()) as reading:
                    found.append(sorted(b"".join(map(bytes, reading)).replace(b'"', b"").splitlines()))
            assert found[0] == found[1]
        expected = real.execute("SELECT * FROM held ORDER BY id").fetchall()
        assert one.execute("SELECT * FROM held ORDER BY id").fetchall() == expected


@pytest.mark.spark
@pytest.mark.slow
def test_times_are_read_and_shown_in_the_zone_of_the_session(port: Served) -> None:
    with writing(port, autocommit=True) as one, port.connect() as other:
        one.execute("DELETE FROM given")
        one.execute("SET TIME ZONE 'Europe/Berlin'")
        assert one.info.parameter_status("TimeZone") == "Europe/Berlin"
        one.execute(
            "INSERT INTO given VALUES (1, '2024-07-01 00:30:00', TIMESTAMP_NTZ '2024-07-01 00:30:00')"
        )
        with one.cursor().copy("COPY given FROM STDIN") as copy:
            copy.write("2\t2024-01-01 00:30:00\t2024-01-01 00:30:00\n")
        one.execute("UPDATE given SET moment = '2024-07-01 12:00' WHERE date(moment) = '2024-07-01'")
        found = one.execute("SELECT moment, local FROM held ORDER BY local DESC").fetchall()
        berlin = ZoneInfo("Europe/Berlin")
        assert found == [
            (dt.datetime(2024, 7, 1, 12, tzinfo=berlin), dt.datetime(2024, 7, 1, 0, 30)),
            (dt.datetime(2024, 1, 1, 0, 30, tzinfo=berlin), dt.datetime(2024, 1, 1, 0, 30)),
        ]
        day = "SELECT id, date(moment) FROM held WHERE moment >= '2024-01-01' AND moment < '2024-01-02'"
        assert one.execute(day).fetchall() == [(2, dt.date(2024, 1, 1))]
        assert other.execute(day).fetchall() == []  # it is in UTC, as the program
        given = "SELECT moment::text FROM held WHERE id = 1"
        assert one.execute(given).fetchall() == [("2024-07-01 12:00:00",)]
        assert other.execute(given).fetchall() == [("2024-07-01 10:00:00",)]
        now = "INSERT INTO given VALUES (7, now(), CURRENT_TIMESTAMP), (8, now() + INTERVAL 1 DAY, NULL)"
        (early,), (late,) = one.execute(f"{now} RETURNING moment").fetchall()
        assert abs((late - early).total_seconds()) == 86_400
        assert abs((early - dt.datetime.now(dt.UTC)).total_seconds()) < 90_000
        one.execute("DELETE FROM given WHERE id > 6")
        with one.transaction(force_rollback=True):
            one.execute("SET TIME ZONE 'Asia/Tokyo'")
            assert one.info.parameter_status("TimeZone") == "Asia/Tokyo"
        assert one.info.parameter_status("TimeZone") == "Europe/Berlin"
        insert = "INSERT INTO given (id, moment) VALUES (3, '2024-07-01 12:00')"
        assert one.execute(f"{insert} RETURNING date(moment), moment::text").fetchall() == [
            (dt.date(2024, 7, 1), "2024-07-01 12:00:00")
        ]
