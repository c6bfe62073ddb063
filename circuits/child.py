"""A process of this one's own, which is asked by its standard input and answers by its standard output.

It ends with its input or its parent; who asks may be told meanwhile that nobody waits (`allowance.py`), and
then it is ended: an answer that nobody has read would be the next one's.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Generic, Self, TypeVar

from dbsp.circuits.allowance import may_go_on

INT = struct.Struct(">i")
_LOOK = 0.1  # seconds between two looks at whether anybody waits


class EndedError(Exception):
    """The process had ended before it was asked."""


@dataclass(eq=False)
class Child:
    """process: of a session of its own, with unbuffered pipes. log: what it writes to standard error.
    lock: held by who asks.
    """

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: bool = False

    @classmethod
    def start(cls, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Self:
        """environment: None: this process's."""
        log, pipe = tempfile.TemporaryFile(), subprocess.PIPE  # noqa: SIM115  as long as the process
        # out of the terminal's reach: an interrupt ends a step, and this with its parent
        process = subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=log, env=environment, start_new_session=True
        )
        return cls(process, log)

    def end(self) -> None:
        """It, and what it has started. Let the next that asks start another."""
        self.ended = True
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def write(self, data: memoryview) -> None:
        assert self.process.stdin is not None
        while data:
            data = data[self.process.stdin.write(data) :]

    def read(self, size: int) -> bytes:
        """While somebody waits for it. Raises EOFError, and as `may_go_on` does."""
        assert self.process.stdout is not None
        read = bytearray()
        while len(read) < size:
            while not select.select([self.process.stdout], [], [], _LOOK)[0]:
                may_go_on()
            more = self.process.stdout.read(size - len(read))
            if not more:
                raise EOFError
            read += more
        return bytes(read)

    def int(self) -> int:
        return INT.unpack(self.read(INT.size))[0]  # type: ignore[no-any-return]

    def said(self) -> str:
        """Why it has ended, as far as it has said so."""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").splitlines()
        thrown = [line for line in lines if "Error" in line or "Exception" in line]
        return (thrown or [f"it was killed, status {self.process.poll()}"])[0].strip()


Kind = TypeVar("Kind", bound=Child)


class Children(Generic[Kind]):
    """Those of this process, one for each purpose, which end with it."""

    def __init__(self) -> None:
        self._running: dict[tuple[int, object], Kind] = {}  # by the process, as a fork has none of its own
        self._starting = threading.Lock()

    def of(self, purpose: object, start: Callable[[], Kind]) -> Kind:
        """The one that runs, or a new one where it has ended."""
        key = os.getpid(), purpose
        with self._starting:
            found = self._running.get(key)
            if found is None or found.ended:
                found = self._running[key] = start()
                atexit.register(found.end)
            return found
