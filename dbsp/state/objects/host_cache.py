"""A host's copies of segments: a directory with a bound, whose least recently used files go first.

    $DBSP_CACHE or ~/.cache/dbsp/segments     with a directory per state, by a digest of its URI
    $DBSP_CACHE_BYTES, else 10 GiB            of all of them together

All processes of a user on a host share it. A file appears whole, under a name that never means anything
else; its time of modification is when it was last opened. One that is mapped can be deleted: its pages stay
until it isn't. So nothing is locked but a download, which two processes would do twice.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from dbsp.circuits.errors import StateError

PLACE, BOUND = "DBSP_CACHE", "DBSP_CACHE_BYTES"
_DEFAULT = 10 << 30
_LOCKS = 64
_OTHERS_WRITE = 0o022


def cache_root() -> Path:
    """Where this user's copies are."""
    named, base = os.environ.get(PLACE), os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named).absolute()
    return (Path(base) if base else Path.home() / ".cache") / "dbsp" / "segments"


def bound() -> int:
    """How many bytes they may take. Raises StateError."""
    given = os.environ.get(BOUND, str(_DEFAULT))
    if not given.isdigit():
        raise StateError(f"{BOUND}={given}: give a number of bytes")
    return int(given)


@dataclass
class HostCache:
    """The copies of one state's segments. root: of all states. _room: bytes until it is looked at next."""

    uri: str
    root: Path
    limit: int = field(default_factory=bound)
    _room: int = 0

    def __post_init__(self) -> None:
        self.directory = self.root / hashlib.sha256(self.uri.encode()).hexdigest()[:16]
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            found = os.stat(self.directory)
        except OSError as error:
            raise StateError(
                f"{self.directory}: can't be used for copies of segments: {error.strerror}; {PLACE} names "
                "another place"
            ) from None
        if found.st_uid != os.geteuid() or found.st_mode & _OTHERS_WRITE:
            raise StateError(
                f"{self.directory}: others may write it, so that it can't hold copies of segments; {PLACE} "
                "names another place"
            )

    def path(self, name: str) -> Path:
        """Of the copy, whether it is there or not."""
        return self.directory / name

    def bring(self, name: str, write: Callable[[Path], None], damaged: os.stat_result | None) -> None:
        """The copy, by `write`, unless another process has just brought it. damaged: one that isn't whole."""
        with self._alone(name):
            present = self.stat(name)
            if present is not None and not _same(present, damaged):
                return
            temporary = self.path(f".{name}.{secrets.token_hex(4)}")
            try:
                write(temporary)
                os.replace(temporary, self.path(name))
            finally:
                temporary.unlink(missing_ok=True)
        self.grew(name)

    def stat(self, name: str) -> os.stat_result | None:
        """Of the copy; None: there is none."""
        with suppress(FileNotFoundError):
            return os.stat(self.path(name))
        return None

    def used(self, name: str) -> None:
        """It goes last now."""
        with suppress(OSError):
            os.utime(self.path(name))

    def grew(self, name: str) -> None:
        """By a copy; now and then what was least recently used goes, of all states."""
        found = self.stat(name)
        self._room -= found.st_size if found is not None else 0
        if self._room < 0:
            self._evict()

    def _evict(self) -> None:
        files = sorted(self._files(), key=lambda each: each[0].st_mtime_ns)
        total = sum(found.st_size for found, _ in files)
        for found, path in files:
            if total <= self.limit:
                break
            with suppress(OSError):
                path.unlink()
                total -= found.st_size
        self._room = max(self.limit // 16, self.limit - total)

    def _files(self) -> Iterator[tuple[os.stat_result, Path]]:
        for folder in self.root.iterdir():
            with suppress(OSError):
                for entry in os.scandir(folder):
                    with suppress(OSError):
                        if entry.is_file() and not entry.name.startswith("lock-"):
                            yield entry.stat(), Path(entry.path)

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        lock = self.directory / f"lock-{xxhash.xxh3_64_intdigest(name.encode()) % _LOCKS}"
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _same(found: os.stat_result, damaged: os.stat_result | None) -> bool:
    return damaged is not None and os.path.samestat(found, damaged)
