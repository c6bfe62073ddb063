"""TLS of the server's ports: one certificate, for HTTP and for PostgreSQL's clients."""

from __future__ import annotations

import ssl
from pathlib import Path

from dbsp.circuits.errors import Error


def read_tls(certificate: str, key: str) -> ssl.SSLContext:
    """What a server shows to those who connect by TLS 1.2 or later. Raises Error, which names the file.

    certificate: a PEM file, the server's own first and then those that sign it. key: the PEM file of its key.
    """
    shown, secret = _read(certificate), _read(key)
    if "-----BEGIN CERTIFICATE-----" not in shown:
        raise Error(f"{certificate}: no certificate in PEM; --tls-cert takes one, and those that sign it")
    if "PRIVATE KEY-----" not in secret:
        raise Error(f"{key}: no private key in PEM; --tls-key takes that of {certificate}")
    if "ENCRYPTED" in secret:  # OpenSSL would ask the terminal, which a server hasn't
        raise Error(f"{key}: it has a passphrase; take it off: openssl pkey -in {key} -out FILE")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        ssl.create_default_context(cadata=shown)
    except ssl.SSLError as error:
        raise Error(f"{certificate}: it is damaged: {error.reason}") from None
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise Error(f"{key}: it isn't the key of {certificate}") from None
        raise Error(f"{key}: it can't be used with {certificate}: {error.reason}") from None
    return context


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise Error(f"{file}: it can't be read: {error.strerror}") from None
