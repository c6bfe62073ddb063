"""The server's side of SCRAM, with the RFC's own numbers; a real client's side is libpq's."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from dbsp.serving.postgres import scram
from dbsp.serving.postgres.scram import Exchange, NotProved

FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FINAL = f"c=biws,r={NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()


@pytest.fixture
def known(monkeypatch: Any) -> None:
    """The salt and nonce of RFC 7677, chapter 3."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    monkeypatch.setattr(scram.secrets, "token_bytes", lambda count: salt)
    monkeypatch.setattr(scram.secrets, "token_urlsafe", lambda count: NONCE[20:])


def test_the_exchange_of_the_rfc(known: None) -> None:
    exchange = Exchange("pencil")
    assert exchange.challenge(FIRST) == f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    assert exchange.signature(FINAL) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize(
    "said",
    [FINAL.replace(b"dHzb", b"eHzb"), FINAL.replace(b"biws", b"eSws"), FINAL[:-10], b"", b"\xff", b"p="],
)
def test_another_proof_proves_nothing(known: None, said: bytes) -> None:
    exchange = Exchange("pencil")
    exchange.challenge(FIRST)
    with pytest.raises(NotProved):
        exchange.signature(said)


def test_another_password_proves_nothing(known: None) -> None:
    exchange = Exchange("pencils")
    exchange.challenge(FIRST)
    with pytest.raises(NotProved):
        exchange.signature(FINAL)


@pytest.mark.parametrize("said", [b"", b"p=tls-unique,,n=,r=x", b"n,,n=user", b"\xff\xfe"])
def test_what_is_no_first_message(said: bytes) -> None:
    with pytest.raises(NotProved):
        Exchange("pencil").challenge(said)
