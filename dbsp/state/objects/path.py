"""A place on a store, spelled like a path: what `DIR / "commits"` is to a directory, it is to a URI.

An object is written whole or not at all, and read by whoever asks next: S3, GCS and Azure promise that. So
there is nothing to sync, and no name but its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbsp.state.objects.bucket import Bucket, Entry, Tag
from dbsp.state.objects.refusals import Changed, Unanswered

# the folder of the files of rows, on a store as on a disk
SEGMENTS = "segments"
_TRIES = 3


@dataclass(frozen=True)
class ObjectPath:
    """An object, or all objects whose names begin with this one's and a slash.

    _tags: the tags of what was last read or written through `bucket`, by name.
    """

    bucket: Bucket = field(compare=False)
    key: str = ""
    _tags: dict[str, Tag] = field(default_factory=dict, compare=False, repr=False)

    def __truediv__(self, name: object) -> ObjectPath:
        return ObjectPath(self.bucket, f"{self.key}/{name}" if self.key else str(name), self._tags)

    def __str__(self) -> str:
        return f"{self.bucket.uri}/{self.key}" if self.key else self.bucket.uri

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> ObjectPath:
        return ObjectPath(self.bucket, self.key.rpartition("/")[0], self._tags)

    @property
    def parents(self) -> Sequence[ObjectPath]:
        """From the nearest to the root."""
        found = [self.parent]
        while found[-1].key:
            found.append(found[-1].parent)
        return found

    def absolute(self) -> ObjectPath:
        return self

    def exists(self) -> bool:
        try:
            self.read_bytes()
        except FileNotFoundError:
            return False
        return True

    def read_bytes(self) -> bytes:
        """Raises FileNotFoundError, OSError."""
        data, tag = self.bucket.get(self.key)
        self._tags[self.key] = tag
        return data

    def names(self) -> list[str]:
        """Of what is in this folder, ascending. Raises OSError."""
        return self.bucket.folder(self.key)

    def all_names(self) -> list[str]:
        """Of all that is in this folder and those in it, ascending. Raises OSError."""
        begin = f"{self.key}/" if self.key else ""
        return [name.removeprefix(begin) for name in self.bucket.names(begin)]

    def entries(self) -> list[Entry]:
        """The objects in this folder. Raises OSError."""
        return self.bucket.entries(self.key)

    def is_dir(self) -> bool:
        """Whether there is anything in this folder. Raises OSError."""
        return bool(self.names())

    def create(self, data: bytes) -> None:
        """The object, where there was none. Raises FileExistsError, Unanswered, OSError.

        A request whose answer is lost may be carried out later, so it isn't given up but repeated: then the
        store says what is true. An object with this very content is this request's. That a repeated one is
        refused says nothing of the first.
        """
        lost = False
        for attempt in range(_TRIES):
            try:
                self._tags[self.key] = self.bucket.create(self.key, data)
                return
            except Changed:
                break
            except Unanswered:
                lost = True
                if attempt == _TRIES - 1:
                    raise
            except OSError as error:
                raise (Unanswered(str(error)) if lost else error) from error
        try:
            found = self.read_bytes()
        except OSError as error:
            raise Unanswered(str(error)) from error
        if found != data:
            raise FileExistsError(f"{self}: is there already")

    def put(self, data: bytes) -> None:
        """The object, whose name nobody gives to another content. Raises OSError."""
        self.bucket.send(self.key, io.BytesIO(data), len(data))

    def send(self, file: Path) -> None:
        """The object with a file's content, like `put`. Raises OSError."""
        with file.open("rb") as content:
            self.bucket.send(self.key, content, file.stat().st_size)

    def write(self, data: bytes) -> None:
        """The object, in place of what this process last read or wrote there. Raises Changed, OSError."""
        tag = self._tags.get(self.key)
        if tag is None:
            try:
                self.read_bytes()
            except FileNotFoundError:
                return self._write_new(data)
            tag = self._tags[self.key]
        try:
            self._tags[self.key] = self.bucket.replace(self.key, data, tag)
        except (Changed, Unanswered, FileNotFoundError):
            if self._found() != data:  # else the answer was lost
                raise
        return None

    def _write_new(self, data: bytes) -> None:
        try:
            self.create(data)
        except FileExistsError:
            raise Changed("another writer has written it") from None

    def _found(self) -> bytes | None:
        try:
            return self.read_bytes()
        except FileNotFoundError:
            return None

    def remove(self, names: Iterable[str]) -> None:
        """What is in this folder, in one request. Raises OSError."""
        self.bucket.delete([(self / name).key for name in names])

    def unlink(self, missing_ok: bool = False) -> None:
        """missing_ok: as of a path; a store doesn't say."""
        self._tags.pop(self.key, None)
        self.bucket.delete([self.key])
