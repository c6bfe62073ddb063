"""A registry of schemas, by the interface that Confluent's has and others keep.

    GET  /schemas/ids/17                   what schema 17 is, and which others it names
    GET  /subjects/NAME/versions/3         one of those
    POST /subjects/NAME/versions           17: the schema's number, whether it is new or not

What a number stands for never changes, so a process asks once. A registry that doesn't answer is asked again,
at longer and longer intervals; then what was to be done fails, and can be done again.
"""

from __future__ import annotations

import base64
import http.client
import json
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from dbsp.circuits.errors import DataError, Error

# Seconds: between one try and the next, and for an answer.
WAITS = (0.2, 0.4, 0.8, 1.6, 3.2)
_TIMEOUT = 10
_TYPE = "application/vnd.schemaregistry.v1+json"
_LATER = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Stored:
    """A schema's text, and those of the schemas whose types it names, in their order."""

    text: str
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Registry:
    """url: http[s]://[user:password@]host[:port][/path]; of several with commas the first that answers.

    Raises Error where it is none.
    """

    url: str = field(repr=False)

    def __post_init__(self) -> None:
        for each in self.url.split(","):
            parts = urlsplit(each.strip())
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise Error(
                    "schema_registry is 'http://host:8081' or https, with user:password@ where it asks"
                )

    @property
    def address(self) -> str:
        """Without a password."""
        return ", ".join(_divided(each)[0] for each in self.url.split(","))

    def schema(self, number: int) -> Stored:
        """Raises DataError where there is none, and Error where the registry doesn't say."""
        return _stored(self, number)

    def register(self, subject: str, text: str) -> int:
        """The number of the schema, which is the subject's newest unless it had it. Raises Error."""
        path = f"subjects/{quote(subject, safe='')}/versions"
        status, answer = self._ask(path, {"schema": text})
        if status == 200 and isinstance(answer.get("id"), int):
            return int(answer["id"])
        raise Error(
            f"the schema registry {self.address} doesn't take the schema of {subject}: {_why(status, answer)}"
        )

    def fetch(self, path: str) -> Any:
        """Raises DataError where there is no such thing."""
        status, answer = self._ask(path, None)
        if status == 200:
            return answer
        if status == 404:
            raise DataError(f"the schema registry {self.address} has no {path}")
        raise Error(f"the schema registry {self.address} refuses {path}: {_why(status, answer)}")

    def _ask(self, path: str, body: object) -> tuple[int, Any]:
        """(status, answer) of the first address that gives one. Raises Error where none does."""
        said = ""
        for wait in (*WAITS, None):
            for each in self.url.split(","):
                try:
                    status, answer = _answer(each.strip(), path, body)
                except (URLError, http.client.HTTPException, OSError) as error:
                    said = str(getattr(error, "reason", error)) or type(error).__name__
                    continue
                if status not in _LATER:
                    return status, answer
                said = _why(status, answer)
            if wait is not None:
                time.sleep(wait)
        raise Error(
            f"the schema registry {self.address} doesn't answer, asked {len(WAITS) + 1} times: {said}"
        )


@lru_cache(maxsize=4096)
def _stored(registry: Registry, number: int) -> Stored:
    answer = registry.fetch(f"schemas/ids/{number}")
    kind = answer.get("schemaType") or "AVRO"
    if kind != "AVRO":
        raise DataError(f"schema {number} of the registry is {kind}, and not AVRO")
    return Stored(answer["schema"], _before(registry, answer, ()))


def _before(registry: Registry, answer: Any, found: tuple[str, ...]) -> tuple[str, ...]:
    for each in answer.get("references") or ():
        path = f"subjects/{quote(each['subject'], safe='')}/versions/{each['version']}"
        other = registry.fetch(path)
        found = _before(registry, other, found)
        if other["schema"] not in found:
            found = (*found, other["schema"])
    return found


def _divided(url: str) -> tuple[str, str | None]:
    """(without user and password, these)"""
    parts = urlsplit(url.strip())
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), unquote(user) if at else None


def _answer(url: str, path: str, body: object) -> tuple[int, Any]:
    base, user = _divided(url)
    headers = {"Accept": f"{_TYPE}, application/json", "Content-Type": _TYPE}
    if user is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(f"{base}/{path}", data, headers), timeout=_TIMEOUT) as answer:
            return answer.status, _read(answer.read())
    except HTTPError as error:
        return error.code, _read(error.read())


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return {"message": data[:200].decode(errors="replace")}


def _why(status: int, answer: Any) -> str:
    message = answer.get("message") if isinstance(answer, dict) else None
    cure = "; give schema_registry a user:password@ of its own" if status in (401, 403) else ""
    return f"{status} {' '.join(str(message or '').split())}".strip() + cure
