"""Objects of a store that obstore knows: S3, Google Cloud Storage, Azure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from dbsp.circuits.errors import StateError
from dbsp.state.objects.bucket import Bucket, Entry, Tag, last_part
from dbsp.state.objects.refusals import refusal

# obstore repeats by itself what never reached the store, and reads
_RETRIES = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
_BULK = 1000  # keys in one request to delete
_WHOLE = 64 << 20  # bytes up to which a file is one request; a larger one is sent in parts
_PART = 16 << 20


@dataclass
class CloudBucket(Bucket):
    """A tag is an entity tag, or a version."""

    def __post_init__(self) -> None:
        try:
            import obstore  # noqa: F401, PLC0415  an extra: of who has state on a store
        except ImportError:
            raise StateError(f"{self.uri}: needs obstore; install it: pip install 'dbsp[stores]'") from None

    @cached_property
    def _store(self) -> Any:
        from obstore.exceptions import BaseError  # noqa: PLC0415
        from obstore.store import from_url  # noqa: PLC0415

        try:
            return from_url(self.uri, client_options={"allow_http": True}, retry_config=_RETRIES)
        except (BaseError, ValueError) as error:
            raise StateError(f"{self.uri}: {refusal(error, self.name, '')!s}") from None

    # -- one object ---------------------------------------------------------------------------------

    def get(self, name: str) -> tuple[bytes, Tag]:
        import obstore  # noqa: PLC0415

        def read() -> tuple[bytes, Tag]:
            found = obstore.get(self._store, name)
            return bytes(found.bytes()), _tag(found.meta)

        data, tag = self._ask(read, name, "gets")
        self._count("bytes_read", len(data))
        return data, tag

    def create(self, name: str, data: bytes) -> Tag:
        return self._put(name, data, "create")

    def replace(self, name: str, data: bytes, tag: Tag) -> Tag:
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
        found = self._folder(name)
        paths = [*found["common_prefixes"], *(each["path"] for each in found["objects"])]
        return sorted(map(last_part, paths))

    def entries(self, name: str) -> list[Entry]:
        return [
            Entry(last_part(each["path"]), each["size"], each["e_tag"] or f"{each['last_modified']}")
            for each in self._folder(name)["objects"]
        ]

    def _folder(self, name: str) -> Any:
        import obstore  # noqa: PLC0415

        return self._ask(lambda: obstore.list_with_delimiter(self._store, prefix=name or None), name, "lists")

    def delete(self, names: Iterable[str]) -> None:
        every = sorted(names)
        for start in range(0, len(every), _BULK):
            part = every[start : start + _BULK]
            try:
                self._delete(part)
            except FileNotFoundError:  # S3 doesn't say so; Azure and GCS do, and may have left the others
                for name in part:
                    with suppress(FileNotFoundError):
                        self._delete([name])

    def _delete(self, names: list[str]) -> None:
        import obstore  # noqa: PLC0415

        self._ask(lambda: obstore.delete(self._store, names), names[0], "deletes")

    # -- requests -----------------------------------------------------------------------------------

    def _refusal(self, error: Exception, name: str) -> OSError | None:
        from obstore.exceptions import BaseError  # noqa: PLC0415

        return refusal(error, self.name, name) if isinstance(error, (BaseError, OSError)) else None


def _tag(found: Mapping[str, Any]) -> Tag:
    return {name: found[name] for name in ("e_tag", "version") if found[name] is not None}
