"""E'...' means to us what it means to a real server."""

from __future__ import annotations

import psycopg
import pytest

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.literals.escapes import unescaped
from tests.servers.postgres import postgres

SAID = {
    r"\x41\u00fc\101": "AüA",
    r"\xC3\xBC \303\274": "ü ü",  # bytes of UTF-8
    r"\U0001F600\ud83d\ude00": "\U0001f600" * 2,
    r"\b\f\n\r\t\'\"\\\q": "\b\f\n\r\t'\"\\q",
    r"it''s \x4 \1": "it's \x04 \x01",
    r"\xg": "xg",
    "plain": "plain",
}
WRONG = {
    r"\u00f": "4 hex digits",
    r"\U0001F60": "8 hex digits",
    r"\xff": "the bytes ff are no UTF-8",
    r"\000": "no character of number 0",
    r"\u0000": "no character of number 0",
    r"\ud83d x": "d83d stands for half a character",
    r"\ud83d": "d83d stands for half a character",
    r"\ude00": "de00 stands for half a character",
    r"\U00110000": "no character of number 00110000",
}


@pytest.mark.parametrize(("inner", "meant"), SAID.items())
def test_letters_and_numbers(inner: str, meant: str) -> None:
    assert unescaped(inner) == meant


@pytest.mark.parametrize(("inner", "said"), WRONG.items())
def test_what_is_no_text_is_said(inner: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        unescaped(inner)


@pytest.mark.slow
def test_a_real_server_reads_the_same() -> None:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        for inner, meant in SAID.items():
            assert one.execute(f"SELECT E'{inner}'").fetchone() == (meant,), inner
        for inner in WRONG:
            with pytest.raises(psycopg.Error):
                one.execute(f"SELECT E'{inner}'")
