"""What a process and its children use, as Linux tells it: CPU time, and memory by kind.

Elsewhere, where there is no /proc, it is what the process itself used, and no memory.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY = 0.05  # seconds between two looks at the memory


def cpu(children: bool) -> float:
    """Seconds so far. children: with those of all processes that descend from this one, also ended ones."""
    if not children or not _PROC.exists():
        return time.process_time()
    return sum(_cpu_of(process) for process in _tree())


@dataclass
class Memory:
    """Bytes at most: peak of what is the processes' own, mapped of files."""

    peak: int = 0
    mapped: int = 0

    def look(self, children: bool) -> None:
        found = [_memory_of(process) for process in (_tree() if children else [os.getpid()])]
        self.peak = max(self.peak, sum(own for own, _ in found))
        self.mapped = max(self.mapped, sum(mapped for _, mapped in found))


@contextmanager
def memory(children: bool) -> Iterator[Memory]:
    """What is used at most while the block runs, looked at twenty times a second."""
    seen, ended = Memory(), threading.Event()
    if not _PROC.exists():
        yield seen
        return

    def look() -> None:
        while not ended.wait(_EVERY):
            seen.look(children)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield seen
    finally:
        ended.set()
        looking.join()
        seen.look(children)


def _tree() -> list[int]:
    """This process and all below it."""
    parents: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields:
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [os.getpid()]
    for process in found:  # which grows
        found += parents.get(process, [])
    return found


def _stat(process: int) -> list[str]:
    """The fields after the name, from the state on; none of a process that has ended."""
    try:
        text = (_PROC / str(process) / "stat").read_text()
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def _cpu_of(process: int) -> float:
    """Its own, and that of its children that ended."""
    fields = _stat(process)
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _memory_of(process: int) -> tuple[int, int]:
    try:
        lines = (_PROC / str(process) / "status").read_text().splitlines()
    except OSError:
        return 0, 0
    kinds = dict(line.split(":", 1) for line in lines if line.startswith("Rss"))
    sizes = {name: 1024 * int(value.split()[0]) for name, value in kinds.items()}
    return sizes.get("RssAnon", 0), sizes.get("RssFile", 0) + sizes.get("RssShmem", 0)
