"""What a record refers to, and copies of it that are known to be right, from any place to any other.

What is copied is compared with its checksums. A store takes an object wholly or not at all, and keeps it.
There a segment is known by its name, which no other has, and by its size.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import DamagedChunk
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.traces.spine import Spine
from dbsp.state.objects.path import SEGMENTS, ObjectPath
from dbsp.state.opening import open_segments
from dbsp.state.records.commits import Commit, sync
from dbsp.state.records.places import Place, delete

# to or from a store, at a time: what one takes is mostly waited for
_TOGETHER = 16

# per segment what of it is needed, and whose that is
Wanted = Mapping[str, Mapping[Chunk, str]]


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


def copy_segments(source: Place, target: Place, commits: Iterable[Commit]) -> tuple[int, int]:
    """Bring what commits need from one state, or backup, to another; (how many, bytes) were copied.

    What is there isn't copied again. Raises DamagedChunk for what is damaged, or gone, in the source.
    """
    wanted: dict[str, dict[Chunk, str]] = {}
    for commit in commits:
        for owner, chunk in chunks_of(commit):
            wanted.setdefault(chunk.segment, {})[chunk] = owner
    with TemporaryDirectory(prefix="dbsp-copy-") as copies:
        given = open_segments(source, copied=Path(copies))

        def copied(name: str) -> int:
            return _copied(given, target / SEGMENTS / name, wanted[name])

        lacking = _lacking(target / SEGMENTS, wanted)
        if isinstance(source, Path) and isinstance(target, Path):
            sizes = [copied(name) for name in lacking]
        else:
            with ThreadPoolExecutor(_TOGETHER, "dbsp-copy") as threads:
                sizes = list(threads.map(copied, lacking))
    with disk(target):
        sync(target / SEGMENTS)
    return len(sizes), sum(sizes)


def check(segments: Segments, chunks: Mapping[Chunk, str]) -> None:
    """Raises DamagedChunk."""
    for chunk, owner in chunks.items():
        segments.check(chunk, owner)


def _lacking(target: Place, wanted: Wanted) -> list[str]:
    """The segments that aren't there, or aren't what they should be."""
    if isinstance(target, Path):
        return [name for name, chunks in sorted(wanted.items()) if not _is_there(target, name, chunks)]
    with disk(target):
        sizes = {entry.name: entry.size for entry in target.entries()}
    ends = {name: max(chunk.offset + chunk.length for chunk in chunks) for name, chunks in wanted.items()}
    return [name for name, end in sorted(ends.items()) if sizes.get(name, 0) < end]


def _copied(given: Segments, target: Place, chunks: Mapping[Chunk, str]) -> int:
    """Copy one; its size. Raises DamagedChunk."""
    check(given, chunks)  # and bring it here
    path = Path(given.root) / target.name
    size = path.stat().st_size
    if isinstance(target, ObjectPath):
        with disk(target):
            target.send(path)
    else:
        _copy(path, target)
        if not _is_there(target.parent, target.name, chunks):
            check(Segments(given.root), chunks)
            check(Segments(target.parent), chunks)
    if given.origin is not None:
        delete(path)
    return size


def _is_there(segments: Path, name: str, chunks: Mapping[Chunk, str]) -> bool:
    if not (segments / name).exists():
        return False
    try:
        check(Segments(segments), chunks)
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
