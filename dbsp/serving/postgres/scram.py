"""A client proves that it knows a password without sending it: SCRAM-SHA-256, the server's side.

    salted = PBKDF2(password, salt, i)      key = HMAC(salted, 'Client Key')      stored = H(key)
    proof = key xor HMAC(stored, message)   what the server shows: HMAC(HMAC(salted, 'Server Key'), message)

Source: RFC 5802 and RFC 7677; PostgreSQL 17 documentation, chapter 53.3, "SASL Authentication".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

MECHANISM = "SCRAM-SHA-256"
_ITERATIONS = 4096
# what a client may say of channel binding, which needs TLS: that it has none, or needs none
_HEADERS = ("n,,", "y,,")


class NotProved(Exception):
    """The client doesn't know the password, or speaks otherwise."""


class Exchange:
    """Of one client: `challenge` answers its first message, `signature` its last."""

    def __init__(self, password: str) -> None:
        self._password = password
        self._header = self._first = self._challenge = ""

    def challenge(self, said: bytes) -> bytes:
        """The server's nonce and salt. Raises NotProved."""
        text = _text(said)
        self._header = next((one for one in _HEADERS if text.startswith(one)), "")
        self._first = text[len(self._header) :]
        nonce = _fields(self._first).get("r", "")
        if not self._header or not nonce:
            raise NotProved
        self._salt = secrets.token_bytes(16)
        salt = base64.b64encode(self._salt).decode()
        self._challenge = f"r={nonce}{secrets.token_urlsafe(18)},s={salt},i={_ITERATIONS}"
        return self._challenge.encode()

    def signature(self, said: bytes) -> bytes:
        """What shows the client that the server knows the password, too. Raises NotProved."""
        text = _text(said)
        without, _, proof = text.rpartition(",p=")
        fields, challenge = _fields(without), _fields(self._challenge)
        binding = base64.b64encode(self._header.encode()).decode()
        if fields.get("c") != binding or fields.get("r") != challenge["r"]:
            raise NotProved
        salted = hashlib.pbkdf2_hmac("sha256", self._password.encode(), self._salt, _ITERATIONS)
        key = _hmac(salted, b"Client Key")
        message = ",".join([self._first, self._challenge, without]).encode()
        expected = _xor(key, _hmac(hashlib.sha256(key).digest(), message))
        try:
            given = base64.b64decode(proof, validate=True)
        except (binascii.Error, ValueError):
            raise NotProved from None
        if not hmac.compare_digest(given, expected):
            raise NotProved
        return b"v=" + base64.b64encode(_hmac(_hmac(salted, b"Server Key"), message))


def _text(said: bytes) -> str:
    try:
        return said.decode()
    except UnicodeDecodeError:
        raise NotProved from None


def _fields(text: str) -> dict[str, str]:
    return {part[:1]: part[2:] for part in text.split(",") if part[1:2] == "="}


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
