"""The objects under one URI, of any store that obstore knows: S3, Google Cloud Storage, Azure.

    create    put-if-absent: of two who create one name, one gets Changed
    replace   put-if-unchanged, by the tag of what was read
    send      an object of a unique name: to send it twice is to send it once

Every request is counted. One that may be repeated is, with growing pauses, while the store is throttled or
out of reach.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import IO, Any, TypeVar

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.origin import Traffic
from dbsp.state.objects.refusals import Unanswered, refusal

# obstore repeats by itself what never reached the store, and reads
_RETRIES = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
_ATTEMPTS = 4
_PAUSE = 0.2
_BULK = 1000  # keys in one request to delete
_WHOLE = 64 << 20  # bytes up to which a file is one request; a larger one is sent in parts
_PART = 16 << 20

Answer = TypeVar("Answer")
# what one content of an object is known by, of all that its name ever has: an entity tag, or a version
Tag = Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """An object of a folder. stamp: what its name has with this content only."""

    name: str
    size: int
    stamp: str


@dataclass
class Bucket:
    """uri: `s3://bucket/prefix`, without a slash at its end. traffic: of this process."""

    uri: str
    traffic: Traffic = field(default_factory=Traffic)
    pause: float = field(default_factory=lambda: _PAUSE)
    _counting: Lock = field(default_factory=Lock)

    @cached_property
    def _store(self) -> Any:
        try:
            from obstore.exceptions import BaseError  # noqa: PLC0415  an extra: of who has state on a store
            from obstore.store import from_url  # noqa: PLC0415
        except ImportError:
            raise StateError(f"{self.uri}: needs obstore; install it: pip install 'dbsp[stores]'") from None
        endpoint = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", ""))
        options = {"allow_http": True} if endpoint.startswith("http://") else {}
        try:
            return from_url(self.uri, client_options=options, retry_config=_RETRIES)
        except (BaseError, ValueError) as error:
            raise StateError(f"{self.uri}: {refusal(error, self._name, '')!s}") from None

    @property
    def _name(self) -> str:
        """Of the bucket, with its scheme."""
        return "/".join(self.uri.split("/")[:3])

    # -- one object ---------------------------------------------------------------------------------

    def get(self, name: str) -> tuple[bytes, Tag]:
        """(content, tag). Raises FileNotFoundError, OSError."""
        import obstore  # noqa: PLC0415

        def read() -> tuple[bytes, Tag]:
            found = obstore.get(self._store, name)
            return bytes(found.bytes()), _tag(found.meta)

        data, tag = self._ask(read, name, "gets")
        self._count("bytes_read", len(data))
        return data, tag

    def create(self, name: str, data: bytes) -> Tag:
        """The tag of an object where there was none. Raises Changed, Unanswered, OSError."""
        return self._put(name, data, "create")

    def replace(self, name: str, data: bytes, tag: Tag) -> Tag:
        """The new tag of an object that had that tag. Raises Changed, Unanswered, OSError."""
        return self._put(name, data, dict(tag))

    def _put(self, name: str, data: bytes, mode: object) -> Tag:
        import obstore  # noqa: PLC0415

        put = self._ask(
            lambda: obstore.put(self._store, name, data, mode=mode, use_multipart=False),
            name,
            "puts",
            attempts=1,
        )
        self._count("bytes_written", len(data))
        return _tag(put)

    # -- files --------------------------------------------------------------------------------------

    def send(self, name: str, file: IO[bytes], size: int) -> None:
        """The file's content, of that size, as an object whose name nobody else has. Raises OSError."""
        import obstore  # noqa: PLC0415

        whole = size <= _WHOLE

        def put() -> None:
            file.seek(0)
            obstore.put(self._store, name, file, use_multipart=not whole, chunk_size=_PART)

        self._ask(put, name, "puts")
        self._count("bytes_written", size)
        if not whole:  # its beginning and its end are requests, too
            self._count("puts", -(-size // _PART) + 1)

    def fetch(self, name: str, path: Path) -> None:
        """The object's content as a file. Raises FileNotFoundError, OSError."""
        import obstore  # noqa: PLC0415

        def get() -> int:
            found = obstore.get(self._store, name)
            with path.open("wb") as file:
                for part in found.stream(min_chunk_size=1 << 22):
                    file.write(memoryview(part))
                written = file.tell()
            if written != found.meta["size"]:
                raise ConnectionError(f"ended after {written} bytes of {found.meta['size']}")
            return written

        self._count("bytes_read", self._ask(get, name, "gets"))

    # -- many ---------------------------------------------------------------------------------------

    def names(self, prefix: str, after: str | None = None) -> Iterator[str]:
        """The names that begin so, ascending; after: those behind that name. Raises OSError."""
        import obstore  # noqa: PLC0415

        folder, _, begin = prefix.rpartition("/")
        offset = max(filter(None, (prefix if begin else None, after)), default=None)

        def listed() -> list[str]:
            found: list[str] = []
            pages = obstore.list(self._store, prefix=folder or None, offset=offset, chunk_size=_BULK)
            for page in pages:
                found += [each["path"] for each in page]
                if found and not found[-1].startswith(prefix):
                    break
            return sorted(name for name in found if name.startswith(prefix))

        return iter(self._ask(listed, prefix, "lists"))

    def folder(self, name: str) -> list[str]:
        """The names in a folder, of objects and of folders, ascending. Raises OSError."""
        found = self._folder(name)
        paths = [*found["common_prefixes"], *(each["path"] for each in found["objects"])]
        return sorted(map(_last, paths))

    def entries(self, name: str) -> list[Entry]:
        """The objects in a folder. Raises OSError."""
        return [
            Entry(_last(each["path"]), each["size"], each["e_tag"] or f"{each['last_modified']}")
            for each in self._folder(name)["objects"]
        ]

    def _folder(self, name: str) -> Any:
        import obstore  # noqa: PLC0415

        return self._ask(lambda: obstore.list_with_delimiter(self._store, prefix=name or None), name, "lists")

    def delete(self, names: Iterable[str]) -> None:
        """Those that are there. Raises OSError."""
        import obstore  # noqa: PLC0415

        every = sorted(names)
        for start in range(0, len(every), _BULK):
            part = every[start : start + _BULK]
            self._ask(lambda part=part: obstore.delete(self._store, part), part[0], "deletes")  # type: ignore[misc]

    # -- requests -----------------------------------------------------------------------------------

    def _ask(self, request: Callable[[], Answer], name: str, kind: str, attempts: int = _ATTEMPTS) -> Answer:
        from obstore.exceptions import BaseError  # noqa: PLC0415

        for attempt in range(attempts):
            self._count(kind, 1)
            try:
                return request()
            except (BaseError, OSError) as error:
                known = refusal(error, self._name, name)
                if not isinstance(known, Unanswered) or attempt == attempts - 1:
                    raise known from None
            time.sleep(self.pause * 2**attempt)
        raise AssertionError("no attempt was made")

    def _count(self, what: str, number: int) -> None:
        with self._counting:
            setattr(self.traffic, what, getattr(self.traffic, what) + number)


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _tag(found: Mapping[str, Any]) -> Tag:
    return {name: found[name] for name in ("e_tag", "version") if found[name] is not None}
