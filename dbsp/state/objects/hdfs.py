"""Objects in a directory of HDFS, by its HTTP interface (WebHDFS, or an HttpFS server).

    hdfs://namenode/states/turnover     asks http://namenode:9870, or $DBSP_WEBHDFS; several with ; between

A file of HDFS appears under its name when it is created, not when it is whole. So an object whose name may
be taken is written under another one and renamed, which the name node does in one instant and, for put-if-
absent, only where there is nothing. It has no put-if-unchanged: `replace` compares before it renames, so that
of two who do it at once the later one wins. That is enough for what a writer alone writes, and for its lease,
which doesn't make commits safe (`lease.py`); a commit is a put-if-absent.

User: $HADOOP_USER_NAME, else the process'. Kerberos is not supported.
"""

from __future__ import annotations

import getpass
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import xxhash

from dbsp.circuits.errors import StateError
from dbsp.state.objects.bucket import Bucket, Entry, Tag
from dbsp.state.objects.refusals import Changed, Unanswered, hdfs_refusal

ADDRESS, USER = "DBSP_WEBHDFS", "HADOOP_USER_NAME"
_PORT = 9870
_TIMEOUT = (10.0, 120.0)  # seconds, to connect and to answer
_PART = 1 << 22
# what is being written, and no object yet; a process that was killed has left it after _STALE seconds
_NEW = ".new"
_STALE = 3600.0


@dataclass
class HdfsBucket(Bucket):
    """A tag is a hash of the content."""

    def __post_init__(self) -> None:
        try:
            import hdfs  # noqa: F401, PLC0415  an extra: of who has state on HDFS
        except ImportError:
            raise StateError(f"{self.uri}: needs HdfsCLI; install it: pip install 'dbsp[hdfs]'") from None

    @cached_property
    def _client(self) -> Any:
        from hdfs import InsecureClient  # noqa: PLC0415

        _, _, host, *path = self.uri.split("/")
        address = os.environ.get(ADDRESS) or f"http://{host.partition(':')[0]}:{_PORT}"
        user = os.environ.get(USER) or getpass.getuser()
        return InsecureClient(address, user=user, root="/" + "/".join(path), timeout=_TIMEOUT)

    @cached_property
    def _folder_of_new(self) -> str:
        """Without what was left there."""
        with suppress(FileNotFoundError):
            for name, status in self._ask(lambda: self._client.list(_NEW, status=True), _NEW, "lists"):
                if status["modificationTime"] / 1000 < time.time() - _STALE:
                    self._forget(f"{_NEW}/{name}")
        return _NEW

    # -- one object ---------------------------------------------------------------------------------

    def get(self, name: str) -> tuple[bytes, Tag]:
        def read() -> bytes:
            with self._client.read(name) as content:
                return bytes(content.read())

        data = self._ask(read, name, "gets")
        self._count("bytes_read", len(data))
        return data, _tag(data)

    def create(self, name: str, data: bytes) -> Tag:
        return self._put(name, data, "NONE")

    def replace(self, name: str, data: bytes, tag: Tag) -> Tag:
        if self.get(name)[1] != tag:
            raise Changed("another writer has written it")
        return self._put(name, data, "OVERWRITE")

    def _put(self, name: str, data: bytes, renaming: str) -> Tag:
        self._ask(lambda: self._written(name, data, renaming), name, "puts", attempts=1)
        self._count("bytes_written", len(data))
        return _tag(data)

    def _written(self, name: str, data: object, renaming: str) -> None:
        """Under a name of its own, then under this one: a request that comes late finds nothing to rename."""
        new = f"{self._folder_of_new}/{secrets.token_hex(8)}"
        try:
            self._client.write(new, data)
            self._in_folder(name, lambda: self._rename(new, name, renaming))
        except Exception:  # raised again: what has no name yet is nobody's
            self._forget(new)
            raise

    def _rename(self, old: str, name: str, options: str) -> None:
        """The client's `rename`, with what is to be done where there is a file already."""
        self._client._rename(old, destination=self._client.resolve(name), renameoptions=options)

    def _in_folder(self, name: str, rename: Callable[[], None]) -> None:
        """A name is given in a folder that is there only; it is made when it isn't."""
        from hdfs import HdfsError  # noqa: PLC0415

        try:
            rename()
            return
        except HdfsError as error:
            if error.exception != "FileNotFoundException":
                raise
        self._client.makedirs(name.rpartition("/")[0])
        try:
            rename()
        except HdfsError as error:
            if error.exception != "FileNotFoundException":
                raise
            # of several name nodes a first one may have done it, whose answer was lost
            raise Unanswered("the file to be renamed is gone") from None

    def _forget(self, new: str) -> None:
        try:
            self._client.delete(new)
        except Exception as error:  # of any client: what isn't the store's is raised again
            if self._refusal(error, new) is None:
                raise

    # -- files --------------------------------------------------------------------------------------

    def send(self, name: str, file: IO[bytes], size: int) -> None:
        def put() -> None:
            file.seek(0)
            self._written(name, iter(lambda: file.read(_PART), b""), "OVERWRITE")

        self._ask(put, name, "puts")
        self._count("bytes_written", size)

    def fetch(self, name: str, path: Path) -> None:
        def get() -> int:
            with self._client.read(name, chunk_size=_PART) as parts, path.open("wb") as file:
                for part in parts:
                    file.write(part)
                return file.tell()

        self._count("bytes_read", self._ask(get, name, "gets"))

    # -- many ---------------------------------------------------------------------------------------

    def names(self, prefix: str, after: str | None = None) -> Iterator[str]:
        folder = prefix.rpartition("/")[0]
        found = (name for name in self._below(folder) if name.startswith(prefix))
        return iter(sorted(name for name in found if after is None or name > after))

    def _below(self, folder: str) -> Iterator[str]:
        """The objects in a folder and those in it."""
        for name, status in self._statuses(folder):
            path = f"{folder}/{name}" if folder else name
            if status["type"] == "FILE":
                yield path
            else:
                yield from self._below(path)

    def folder(self, name: str) -> list[str]:
        # a folder stays when its last file has gone, and is none then
        return sorted(
            each
            for each, status in self._statuses(name)
            if status["type"] == "FILE" or status.get("childrenNum", 1)
        )

    def entries(self, name: str) -> list[Entry]:
        return [
            Entry(each, status["length"], f"{status['fileId']}-{status['modificationTime']}")
            for each, status in self._statuses(name)
            if status["type"] == "FILE"
        ]

    def _statuses(self, folder: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Of what is in a folder, by name; nothing of one that isn't there."""
        try:
            found = self._ask(lambda: self._client.list(folder, status=True), folder, "lists")
        except FileNotFoundError:
            return []
        return [(name, status) for name, status in found if name != _NEW]

    def delete(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            self._ask(lambda name=name: self._client.delete(name), name, "deletes")  # type: ignore[misc]

    # -- requests -----------------------------------------------------------------------------------

    def _refusal(self, error: Exception, name: str) -> OSError | None:
        from hdfs import HdfsError  # noqa: PLC0415

        if isinstance(error, Unanswered):
            return error
        if isinstance(error, HdfsError):
            return hdfs_refusal(error.exception, str(error.message), self.name, name)
        if isinstance(error, OSError):  # all that `requests` raises is one
            return hdfs_refusal("", str(error), self.name, name)
        return None


def _tag(data: bytes) -> Tag:
    return {"content": xxhash.xxh3_128_hexdigest(data)}
