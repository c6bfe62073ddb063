"""What a time zone is called, and how far it is from UTC, is what a real server says."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

from dbsp.circuits.functions.times.time_zones import time_zone
from dbsp.serving.postgres.language.spelling import statements
from dbsp.serving.postgres.language.zones import zone_meant, zone_named, zone_said, zone_shown
from tests.servers.postgres import postgres

SAID = [
    *("'Europe/Berlin'", "'europe/berlin'", '"UTC"', "'EST5EDT'", "'Etc/GMT+5'", "'GMT0'", "'zulu'"),
    *("2", "-7", "+3", "0", "0.5", "-.25", "'+02'", "'-3'", "' 5.5'", "'1e1'", "18", "-18"),
    *(
        "'+02:00'",
        "'-03:30'",
        "'UTC+3'",
        "'utc-3'",
        "'<+03>-3'",
        "'GMT-02:00'",
        "'EST5'",
        "'X9'",
        "'<A1>3:05'",
    ),
    *("INTERVAL '+02:00' HOUR TO MINUTE", "INTERVAL '-08:30'", "INTERVAL '-08:30:10'"),
]
WRONG = ["'Mars/Base'", "''", "'+'", "'Z'", "168", "'1:2:3:4'", "'UTC+3:99'", "'UTC+200'"]
# what PostgreSQL has and Spark hasn't, or hasn't written so
OURS = ["19", "'CET-1CEST'", "INTERVAL '90 minutes'", "'UTC+25'", "- 7 8"]
MOMENTS = [dt.datetime(2024, 7, 1, tzinfo=dt.UTC), dt.datetime(1990, 1, 1, tzinfo=dt.UTC)]


@pytest.fixture(scope="module")
def real() -> Iterator[psycopg.Connection[Any]]:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        yield one


def _said(value: str) -> str | None:
    return zone_said(statements(value)[0])


@pytest.mark.slow  # a real server
@pytest.mark.parametrize("value", SAID)
def test_as_a_real_server(real: psycopg.Connection[Any], value: str) -> None:
    real.execute(f"SET TIME ZONE {value}".encode())
    shown = _said(value)
    assert shown is not None and shown.lower() == real.execute("SHOW timezone").fetchall()[0][0].lower()
    name = zone_meant(shown)
    assert name is not None
    for moment in MOMENTS:
        here = real.execute("SELECT extract(timezone FROM %s::timestamptz)", (moment,)).fetchall()[0][0]
        at = np.array([int(moment.timestamp()) * 1_000_000])
        assert (time_zone(name).to_local(at) - at).tolist() == [int(here) * 1_000_000]
    assert zone_named(shown) == shown
    assert zone_meant(zone_shown(name)) == name


@pytest.mark.slow  # a real server
@pytest.mark.parametrize("value", WRONG)
def test_what_is_none_for_a_real_server_either(real: psycopg.Connection[Any], value: str) -> None:
    assert _said(value) is None
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        real.execute(f"SET TIME ZONE {value}".encode())


@pytest.mark.parametrize("value", OURS)
def test_what_is_none_here(value: str) -> None:
    assert _said(value) is None


def test_what_the_engine_calls_it_is_shown_with_the_other_sign() -> None:
    assert zone_shown("+02:00") == "<+02>-02"
    assert zone_shown("GMT-3") == "<-03>+03"
    assert zone_shown("Europe/Berlin") == "Europe/Berlin"
    assert zone_meant("Europe/nowhere") is None
