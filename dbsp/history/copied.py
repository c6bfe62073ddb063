"""What a state directory is as of a step, beside its segments: small files, which a copy has whole.

It is read while a writer runs. So it goes by one record, and takes of every file what that record knows.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.history.chunks import copy_segments
from dbsp.state.keeping import keep, tags
from dbsp.state.records import delivered, identity
from dbsp.state.records.commits import Commit, record_path, sync, write_whole
from dbsp.state.records.identity import Identity, read_identity
from dbsp.state.records.places import local_root
from dbsp.state.store import Store


@dataclass(frozen=True)
class Copied:
    """commits: ascending, the last is what the copy is of. files: by path."""

    commits: tuple[Commit, ...]
    files: dict[str, bytes]

    @property
    def step(self) -> int:
        return self.commits[-1].step


def copied(store: Store, found: Identity, step: int, others: Collection[int]) -> Copied:
    """As of a kept step. others: steps before it that the copy has, too. Raises StateError.

    Changing: a writer has taken away meanwhile what was needed, so that it can be tried again.
    """
    root = local_root(store.root)
    try:
        records = _records(store, step, others)
        commits = tuple(Commit.from_bytes(record, record_path(root, n)) for n, record in records.items())
        last = commits[-1]
        files = {identity.NAME: _program(root, found), delivered.NAME: _delivered(root, step)}
        if (root / keep.NAME).exists():
            files[keep.NAME] = (root / keep.NAME).read_bytes()
        for name, tag in tags.Tags(root).all().items():
            if tag.until is None and tag.step in records:
                files[f"{tags.FOLDER}/{name}"] = (root / tags.FOLDER / name).read_bytes()
        files |= {f"commits/{n:012d}.json": record for n, record in records.items()}
        for name in _batch(root, last):
            files[f"{last.checkpoint}/{name}"] = (root / last.checkpoint / name).read_bytes()
    except FileNotFoundError as error:
        raise Changing(f"{error.filename}: went away while it was copied; try again") from None
    return Copied(commits, files)


class Changing(StateError):
    """A writer was faster."""


def place(found: Copied, segments: Path, root: Path) -> tuple[int, int]:
    """Make a state directory of it, in one instant; (segments, bytes) that were copied. Raises StateError.

    segments: the folder to copy them from.
    """
    root = root.absolute()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise StateError(f"{root}: is there already; use a new directory")
    made = root.with_name(f".{root.name}.new")
    with disk(root):
        rmtree(made, ignore_errors=True)  # of a process that was killed
        for folder in ("segments", "commits"):
            (made / folder).mkdir(parents=True)
        copied = copy_segments(segments, made / "segments", found.commits)
        for name, content in found.files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(made / name, content)
        sync(made)
        os.rename(made, root)
        sync(root.parent)
    return copied


def _records(store: Store, step: int, others: Collection[int]) -> dict[int, bytes]:
    """Those that were forgotten meanwhile are left out, and all before them that no tag keeps."""
    found: dict[int, bytes] = {}
    for each in sorted({*others, step}):
        try:
            found[each] = record_path(store.root, each).read_bytes()
        except FileNotFoundError:
            if each == step:
                raise
            tagged = store.tags.steps()
            found = {before: record for before, record in found.items() if before in tagged}
    return found


def _program(root: Path, found: Identity) -> bytes:
    """The file that says so: while a program is changed there are two."""
    for name in (identity.NAME, identity.NEXT):
        if read_identity(root, name) == found:
            return (root / name).read_bytes()
    raise FileNotFoundError(2, "another program's", str(root / identity.NAME))


def _delivered(root: Path, step: int) -> bytes:
    """What a sink has of later steps this copy knows nothing of."""
    known = delivered.read_delivered(root)
    return delivered.sealed({name: replace(each, step=min(each.step, step)) for name, each in known.items()})


def _batch(root: Path, last: Commit) -> list[str]:
    """What the step's batch needs of Spark's checkpoint."""
    if last.batch is None:
        return []
    if isinstance(last.offsets, dict) and last.offsets:
        return sorted(_inside(root, last.offsets))
    base = root / last.checkpoint
    return sorted(str(path.relative_to(base)) for path in base.rglob("*") if path.is_file())


def _inside(root: Path, names: Mapping[str, object]) -> Iterator[str]:
    for name in names:
        if name.startswith("/") or ".." in Path(name).parts:
            raise StateError(
                f"{root}: a record says that '{name}' is a file of its checkpoint; it is damaged"
            )
        yield name
