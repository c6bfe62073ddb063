"""What a record refers to, and copies of it that are known to be right."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import DamagedChunk
from dbsp.circuits.traces.chunk import Chunk
from dbsp.circuits.traces.segments import Segments
from dbsp.circuits.traces.spine import Spine
from dbsp.state.records.commits import Commit, sync
from dbsp.state.records.places import delete


def chunks_of(commit: Commit) -> Iterator[tuple[str, Chunk]]:
    """All that a commit refers to, and what it is."""
    initial = [changes for given in commit.initial.values() for changes in given.items()]
    for view, chunks in (*commit.changes.items(), *initial):
        yield from (
            (f"the changes of view '{view}' in step {commit.step}", Chunk.from_json(c)) for c in chunks
        )
    spines: Any = commit.state["spines"]
    for name, spine in spines.items():
        yield from ((f"the state (trace {name})", chunk) for chunk in Spine.from_json(spine).chunks())


def copy_segments(source: Path, target: Path, commits: Iterable[Commit]) -> tuple[int, int]:
    """Bring what commits need from one folder of segments to another; (how many, bytes) were copied.

    What is there under its name, and is what its checksums say, isn't copied again. All is on the disk then.
    Raises DamagedChunk for what is damaged, or gone, in the source.
    """
    wanted: dict[str, dict[Chunk, str]] = {}
    for commit in commits:
        for name in commit.segments:
            wanted.setdefault(name, {})
        for owner, chunk in chunks_of(commit):
            wanted.setdefault(chunk.segment, {})[chunk] = owner
    count = size = 0
    for name, chunks in sorted(wanted.items()):
        if chunks and not _is_there(target, name, chunks):
            _copy(source / name, target / name)
            if not _is_there(target, name, chunks):
                check(source, chunks)
                check(target, chunks)
            count, size = count + 1, size + (target / name).stat().st_size
    with disk(target):
        sync(target)
    return count, size


def check(segments: Path, chunks: dict[Chunk, str]) -> None:
    """Raises DamagedChunk."""
    opened = Segments(segments)
    for chunk, owner in chunks.items():
        opened.check(chunk, owner)


def _is_there(segments: Path, name: str, chunks: dict[Chunk, str]) -> bool:
    if not (segments / name).exists():
        return False
    try:
        check(segments, chunks)
    except DamagedChunk:
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    temporary = target.with_name(target.name + ".tmp")
    with disk(target):
        try:
            with source.open("rb") as given, temporary.open("wb") as taken:
                shutil.copyfileobj(given, taken, 1 << 20)
                taken.flush()
                os.fsync(taken.fileno())
        except FileNotFoundError:
            if source.exists():
                raise
            delete(temporary)
            return  # whoever asks for it finds it missing
        os.replace(temporary, target)
