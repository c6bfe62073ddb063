"""What the operating system refuses, as one line that names the path."""

from __future__ import annotations

import errno
import os
from types import TracebackType

from dbsp.circuits.errors import StateError

_ADVICE = {
    errno.ENOSPC: "make room on that disk, then try again",
    errno.EDQUOT: "make room on that disk, then try again",
    errno.EFBIG: "raise the limit on the size of files, then try again",
    errno.EACCES: "give this user the right to read and write there",
    errno.EPERM: "give this user the right to read and write there",
    errno.EROFS: "it must be writable",
    errno.ENOENT: "was the state directory moved or deleted? Open it where it is",
    errno.ENOTDIR: "was the state directory moved or deleted? Open it where it is",
    errno.EIO: "the disk fails; restore the directory from a backup on another one",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
}


# a small step has 34 of them, for which a generator is six times as dear
class disk:
    """Turn every OSError into a StateError. path: or URI, of what is read or written."""

    __slots__ = ("_path",)

    def __init__(self, path: object) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise refused(error, self._path) from error


def refused(error: OSError, path: object) -> StateError:
    """The error in one line. path: see `disk`."""
    # Arrow's errors have the number too, and a message of many words in place of the system's
    reason = os.strerror(error.errno) if error.errno else str(error)
    advice = f"; {_ADVICE[error.errno]}" if error.errno in _ADVICE else ""
    where = path if error.filename is None else error.filename
    return StateError(f"{where}: {reason}{advice}")
