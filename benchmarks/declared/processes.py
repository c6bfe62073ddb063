"""What the processes of a session take: of CPU, of memory, and of reading and writing."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

_PAUSES = 30  # times as long as a look took


class Taken(threading.Thread):
    """Looked at as they run, since they may be nobody's children."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.session, self.ended = session, threading.Event()
        self.ticks: dict[str, int] = {}
        self.moved: dict[str, tuple[int, int]] = {}
        self.held = 0

    def run(self) -> None:
        cost = 0.0
        while not self.ended.wait(max(0.02, _PAUSES * cost)):
            began = time.thread_time()
            held = 0
            for stat in Path("/proc").glob("[0-9]*/stat"):
                with suppress(OSError):
                    fields = stat.read_text().rpartition(")")[2].split()
                    if int(fields[3]) == self.session:
                        self.ticks[stat.parent.name] = int(fields[11]) + int(fields[12])
                        held += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
                        said = dict(
                            line.split(": ") for line in (stat.parent / "io").read_text().splitlines()
                        )
                        self.moved[stat.parent.name] = int(said["rchar"]), int(said["wchar"])
            self.held = max(self.held, held)  # bytes, at most, of all at one time
            cost = time.thread_time() - began

    def end(self) -> None:
        self.ended.set()
        self.join()

    @property
    def cpu(self) -> float:
        """Seconds."""
        return sum(self.ticks.values()) / os.sysconf("SC_CLK_TCK")

    @property
    def read(self) -> int:
        """Bytes that were asked for by read(2), wherever they were."""
        return sum(read for read, _ in self.moved.values())

    @property
    def wrote(self) -> int:
        """Bytes that were given to write(2)."""
        return sum(wrote for _, wrote in self.moved.values())
