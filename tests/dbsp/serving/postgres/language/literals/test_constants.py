"""Texts of bytea, numeric and time."""

from __future__ import annotations

import psycopg
import pytest

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.literals.constants import bytea, bytes_said, numeric, time
from tests.servers.postgres import postgres

BYTES = {
    r"\x00ff": b"\0\xff",
    r"\xDE ad": b"\xde\xad",
    r"\x": b"",
    "": b"",
    "plain ü": "plain ü".encode(),
    r"a\\b\000\377": b"a\\b\0\xff",
}
NO_BYTES = [r"\x0", r"\xzz", "a\\", r"\9", r"\400"]


@pytest.mark.parametrize(("text", "meant"), BYTES.items())
def test_bytes(text: str, meant: bytes) -> None:
    assert bytes_said(text) == meant
    assert bytea(text) == f"X'{meant.hex()}'"


@pytest.mark.parametrize("text", NO_BYTES)
def test_no_bytes(text: str) -> None:
    with pytest.raises(DataError, match="is no bytea"):
        bytes_said(text)


@pytest.mark.slow
def test_a_real_server_reads_the_same_bytes() -> None:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        for text, meant in BYTES.items():
            assert one.execute(f"SELECT '{text}'::bytea").fetchone() == (meant,), text
        for text in NO_BYTES:
            with pytest.raises(psycopg.Error):
                one.execute(f"SELECT '{text}'::bytea")


def test_a_number_has_its_own_digits() -> None:
    assert [numeric(text) for text in ("1.50", " -7 ", "1E-3", "1e3", "0.0")] == [
        *("(1.50BD)", "(-7BD)", "(0.001BD)", "(1000BD)", "(0.0BD)")
    ]
    assert numeric("9" * 20 + "." + "1" * 18) == f"({'9' * 20}.{'1' * 18}BD)"
    for text in ("1e", "", "x", "1 2"):
        with pytest.raises(DataError, match="is no number"):
            numeric(text)
    for text in ("NaN", "-Infinity"):
        with pytest.raises(DataError, match="NaN and infinity are no DECIMAL"):
            numeric(text)
    for text in ("1" * 39, "0." + "1" * 39, "1e38", "1e-39", "1" * 20 + "." + "1" * 19):
        with pytest.raises(DataError, match="at most 38 digits"):
            numeric(text)


@pytest.mark.parametrize("offset", ["", "+00", "Z", "-08", "+05:30", "+05:30:10", " UTC"])
def test_a_time_has_no_offset(offset: str) -> None:
    assert time(f"23:59:59.999{offset}") == "CAST('23:59:59.999' AS TIME)"
    assert time(f"x'{offset}").startswith("CAST('x\\'")
