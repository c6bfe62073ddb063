"""Intervals are read as a real server reads them."""

from __future__ import annotations

import datetime as dt
import struct

import psycopg
import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.literals.intervals import from_binary, interval, parts_of, texts
from tests.servers.postgres import postgres

SECOND = 1_000_000
DAY = 86_400 * SECOND
SAID = {
    "1 day": (0, 1, 0),
    "1 day, 2:03:04.000005": (0, 1, 7384 * SECOND + 5),
    "-1 days +02:00": (0, -1, 7200 * SECOND),
    "-02:30": (0, 0, -9000 * SECOND),
    "1 year 2 mons -3 days 04:05:06.7": (14, -3, 14706 * SECOND + 700_000),
    "0 years 0 mons 1 days 2 hours 3 mins 4.5 secs": (0, 1, 7384 * SECOND - SECOND // 2 + SECOND),
    "P1Y2M-3DT4H5M6.7S": (14, -3, 14706 * SECOND + 700_000),
    "PT36H": (0, 0, 36 * 3600 * SECOND),
    "P2W": (0, 14, 0),
    "1-2": (14, 0, 0),
    "-1-2": (-14, 0, 0),
    "1 02:03:04": (0, 1, 7384 * SECOND),
    "1.5 days": (0, 1, DAY // 2),
    "1.5 months": (1, 15, 0),
    "@ 1 day 2 hours ago": (0, -1, -7200 * SECOND),
    "3 weeks 5 ms 7 us": (0, 21, 5007),
    "90": (0, 0, 90 * SECOND),
}


@pytest.mark.parametrize(("text", "meant"), SAID.items())
def test_parts(text: str, meant: tuple[int, int, int]) -> None:
    assert parts_of(text) == meant


@pytest.mark.slow
def test_a_real_server_reads_the_same() -> None:
    query = "SELECT interval_send(%s::text::interval)"
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        for text, meant in SAID.items():
            (sent,) = one.execute(query, (text,)).fetchone() or (b"",)
            assert parts_of(from_binary(sent)) == meant, text


def test_the_sign_of_the_standards_form_is_of_both() -> None:
    assert parts_of("-1 02:03:04.5") == (0, -1, -7384 * SECOND - SECOND // 2)
    for text in ("", "P", "PT", "x", "1 fortnight", "1:2:3:4", "one day"):
        with pytest.raises(DataError, match="is no interval, such as"):
            parts_of(text)


def test_literals() -> None:
    assert interval("1 day 02:00:00") == "INTERVAL '1 02:00:00' DAY TO SECOND"
    assert interval("-23 mons") == "INTERVAL '-1-11' YEAR TO MONTH"
    assert interval("1 mon -2 days 00:00:03") == "CAST('1 months -2 days 3 seconds' AS INTERVAL)"
    assert interval("0") == "INTERVAL '0 00:00:00' DAY TO SECOND"
    assert parts_of(from_binary(struct.pack("!qii", -5, 3, -2))) == (-2, 3, -5)
    with pytest.raises(DataError, match="out of the range"):
        interval("200000000 days")


def test_texts_of_columns() -> None:
    assert texts(pa.array([-23, None, 0, -23]).view(MONTHS)).to_pylist() == ["-1-11", None, "0-0", "-1-11"]
    times = pa.array([dt.timedelta(-1, -7384, -5), None], pa.duration("us"))
    assert texts(times).to_pylist() == ["-1 02:03:04.000005", None]
