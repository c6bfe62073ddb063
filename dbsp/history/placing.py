"""A state of its own, made of a copy, at one instant.

a directory   when it gets its name
on a store    when its program.json is there: what has none is no state. What one that was interrupted has
              left of segments is used. Nobody opens it meanwhile, since the lease is held.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.history.chunks import copy_segments
from dbsp.history.copied import Copied
from dbsp.state.objects.lease import NAME as LEASE
from dbsp.state.objects.lease import Lease
from dbsp.state.objects.path import SEGMENTS, ObjectPath
from dbsp.state.records.batch_files import batch_object
from dbsp.state.records.commits import sync, write_whole
from dbsp.state.records.identity import NAME, refuse_foreign
from dbsp.state.records.places import Place

_TOGETHER = 16


def place(found: Copied, source: Place, root: Place) -> tuple[int, int]:
    """Make a state of it; (segments, bytes) that were copied. Raises StateError.

    source: the state, or backup, to copy the segments from.
    """
    return (
        _renamed(found, source, root.absolute()) if isinstance(root, Path) else _on_store(found, source, root)
    )


def _refuse_taken(root: Place, is_taken: bool) -> None:
    if is_taken:
        kind = "directory" if isinstance(root, Path) else "place"
        raise StateError(f"{root}: is there already; use a new {kind}")


def _renamed(found: Copied, source: Place, root: Path) -> tuple[int, int]:
    _refuse_taken(root, root.exists() and (not root.is_dir() or any(root.iterdir())))
    made = root.with_name(f".{root.name}.new")
    with disk(root):
        rmtree(made, ignore_errors=True)  # of a process that was killed
        for folder in (SEGMENTS, "commits"):
            (made / folder).mkdir(parents=True)
        copied = copy_segments(source, made, found.commits)
        for name, content in found.files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(made / name, content)
        sync(made)
        os.rename(made, root)
        sync(root.parent)
    return copied


def _on_store(found: Copied, source: Place, root: ObjectPath) -> tuple[int, int]:
    with disk(root):
        refuse_foreign(root)
        lease = Lease(root.bucket)
    try:
        with disk(root):
            _refuse_taken(root, (root / NAME).exists())
            needed = {name for commit in found.commits for name in commit.segments}
            kept = {f"{SEGMENTS}/{name}" for name in needed} | {LEASE}
            root.remove(set(root.all_names()) - kept)
        copied = copy_segments(source, root, found.commits)
        with disk(root), ThreadPoolExecutor(_TOGETHER, "dbsp-place") as threads:
            files = {name: content for name, content in found.files.items() if name != NAME}
            for sent in [threads.submit(_object(found, root, n).put, files[n]) for n in files]:
                sent.result()
        lease.check()
        with disk(root):
            (root / NAME).create(found.files[NAME])
    finally:
        lease.close()
    return copied


def _object(found: Copied, root: ObjectPath, name: str) -> ObjectPath:
    """Where a file of the copy is."""
    folder, _, file = name.partition("/")
    if file and folder in {commit.checkpoint for commit in found.commits}:
        return batch_object(root, file, found.files[name])
    return root / name
