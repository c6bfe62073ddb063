"""One writer per state directory, by a lock that the operating system takes back when a process dies."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from dbsp.circuits.errors import StateError


class Lock:
    """Held from creation to `close`. Raises StateError while another process, or pipeline, holds it."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(self._descriptor)
            raise StateError(
                f"{path.parent}: in use by {holder}; close it first, or use another state directory"
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
