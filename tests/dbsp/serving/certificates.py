"""Certificates that sign themselves, as `openssl` makes them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """file, key: PEM. Its names are localhost and 127.0.0.1."""

    file: str
    key: str


def certified(folder: Path, name: str = "server") -> Certificate:
    made = Certificate(str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    openssl("req", "-x509", *kind, *names, "-out", made.file, "-keyout", made.key)
    return made


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
