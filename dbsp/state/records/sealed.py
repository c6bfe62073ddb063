"""Sealed records: small JSON files that say of themselves whether they are what was written.

{"checksum": "<sha256 of what follows>", "<kind>": ...}\\n
"""

from __future__ import annotations

import hashlib
import json

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.state.records.places import Place

_DIGITS = 64
_TAIL = b"}\n"


def seal(kind: str, record: object, indent: int | None = None) -> bytes:
    """The file's content."""
    separators = (",", ":") if indent is None else None
    body = json.dumps(record, separators=separators, indent=indent).encode()
    return _head(kind, body) + body + _TAIL


def unseal(kind: str, data: bytes, path: object, advice: str) -> object:
    """The record. Raises StateError, with advice, for a content that differs from its checksum in any bit."""
    length = len(_head(kind, b""))
    body = data[length : -len(_TAIL)]
    if not data.endswith(_TAIL) or data[:length] != _head(kind, body):
        problem = "is empty" if not data else "isn't what was written there (its checksum differs)"
        raise StateError(f"{path}: damaged: the file {problem}; {advice}")
    return json.loads(body)


def read_sealed(kind: str, path: Place, advice: str) -> object | None:
    """The record in a file; None: there is no such file. Raises StateError."""
    try:
        with disk(path):
            data = path.read_bytes()
    except StateError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    return unseal(kind, data, path, advice)


def _head(kind: str, body: bytes) -> bytes:
    return b'{"checksum": "%s", "%s": ' % (hashlib.sha256(body).hexdigest().encode(), kind.encode())
