"""Files that nobody but this user can have written, so that unpickling them is no more than running them.

    trusted(f) = owner(f) is us  and  only the owner may write f        of the directory, and of each file

Both are looked at through the descriptor that is then used: what a name stands for may change meanwhile. The
directory's own parents need no trust, as what somebody else puts in its place isn't ours.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

log = logging.getLogger("dbsp")

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# files, of which then the quarter goes that wasn't read for the longest time
_KEPT = 4096
_DIGEST = hashlib.sha256().digest_size


def cache_directory(name: str = "dbsp") -> Path:
    """Of this user, where what is there may be deleted at any time."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base, name)
    try:
        return Path.home() / ".cache" / name
    except RuntimeError:  # as of a container whose user nobody has made
        return Path(tempfile.gettempdir(), f"{name}-{os.geteuid()}")


def is_private(directory: Path) -> bool:
    """Whether its name can stand for nothing that another user has made: for who opens it by its name.

    Raises OSError.
    """
    with _opened(directory) as folder:
        return folder is not None and all(map(_keeps_names, directory.resolve().parents))


def _keeps_names(directory: Path) -> bool:
    found = directory.stat()
    others = found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX
    return found.st_uid in (0, os.geteuid()) and not others


def read_private(directory: Path, name: str) -> bytes | None:
    """The file's content; None where it isn't there, or where another user could have written it."""
    try:
        with _opened(directory) as folder:
            if folder is None:
                return None
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            with open(descriptor, "rb") as file:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode) or not _trusted(found, directory / name):
                    return None
                with suppress(OSError):  # of a directory that is only read nothing has to go
                    os.utime(descriptor)
                return file.read()
    except OSError:
        return None


def read_checked(directory: Path, name: str) -> bytes | None:
    """What `write_checked` wrote; None where it isn't there, isn't trusted, or isn't that any more."""
    content = read_private(directory, name)
    if content is None or hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        return None
    return content[_DIGEST:]


def write_checked(directory: Path, name: str, content: bytes) -> None:
    """As `write_private`, behind its digest."""
    write_private(directory, name, hashlib.sha256(content).digest() + content)


def write_private(directory: Path, name: str, content: bytes) -> None:
    """Make the file, which appears whole. One that can't be written is no error: it is made to save work."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        with _opened(directory) as folder:
            if folder is not None:
                _write(folder, name, content)
                _make_room(folder)
    except OSError:
        return


def _make_room(folder: int) -> None:
    """Another process may do the same at the same time."""
    names = os.listdir(folder)
    if len(names) <= _KEPT:
        return
    read = {}
    for name in names:
        with suppress(FileNotFoundError):
            read[name] = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns
    for name in sorted(read, key=read.__getitem__)[: _KEPT // 4]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _write(folder: int, name: str, content: bytes) -> None:
    temporary = f"{name}.{secrets.token_hex(8)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


@contextmanager
def _opened(directory: Path) -> Iterator[int | None]:
    """A descriptor of the directory, None if it isn't trusted. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor if _trusted(os.fstat(descriptor), directory) else None
    finally:
        os.close(descriptor)


def is_own(found: os.stat_result) -> bool:
    """Whether nobody but this user, and root, can have written it."""
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def _trusted(found: os.stat_result, path: Path) -> bool:
    if is_own(found):
        return True
    if found.st_uid != os.geteuid():
        problem = f"it belongs to another user ({found.st_uid}, this is {os.geteuid()})"
    else:
        problem = (
            f"others may write it ({stat.filemode(found.st_mode)}); chmod go-w it after a look, or delete it"
        )
    _warn(path, problem)
    return False


@cache
def _warn(path: Path, problem: str) -> None:
    """Once: who reads also writes."""
    log.warning("%s: not used, so what it keeps is made anew: %s", path, problem)
