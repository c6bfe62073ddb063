"""One writer per state directory, by a lock that the operating system takes back when a process dies."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from dbsp.circuits.errors import Overtaken, StateError


class Lock:
    """Held from creation to `close`. Raises StateError while another process, or pipeline, holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take()
        except BaseException:  # what nobody holds must not be locked
            self.close()
            raise

    def _take(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 200, 0).decode(errors="replace").strip() or "another process"
            raise StateError(
                f"{self._path.parent}: in use by {holder}; close it first, or use another state directory"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def check(self) -> None:
        """Raises Overtaken where the file that is locked isn't the directory's any more.

        Somebody deleted it, so that another writer may hold a new one.
        """
        try:
            is_ours = os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError as error:
            if not self._path.parent.exists():  # moved away, or not mounted: it may come back
                raise StateError(f"{self._path.parent}: {error.strerror}") from error
            is_ours = False
        except OSError as error:
            raise StateError(f"{self._path}: can't be looked at: {error.strerror}") from error
        if not is_ours:
            raise Overtaken(
                f"{self._path}: was deleted or replaced under its writer, so another one may be at work; "
                "open the state directory again, and leave the file alone"
            )

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
