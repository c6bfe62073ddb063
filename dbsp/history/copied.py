"""What a state directory is as of a step, beside its segments: small files, which a copy has whole.

It is read while a writer runs. So it goes by one record, and takes of every file what that record knows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbsp.circuits.disk import refused
from dbsp.circuits.errors import StateError
from dbsp.state.keeping import keep, tags
from dbsp.state.records import delivered, identity
from dbsp.state.records.batch_files import batch_file, recorded, whole_file
from dbsp.state.records.commits import Commit, record_path
from dbsp.state.records.identity import Identity, read_identity
from dbsp.state.records.places import Place
from dbsp.state.store import Store


@dataclass(frozen=True)
class Copied:
    """commits: ascending, the last is what the copy is of. files: by path. state: see `Identity`."""

    commits: tuple[Commit, ...]
    files: dict[str, bytes]
    state: str

    @property
    def step(self) -> int:
        return self.commits[-1].step


def copied(store: Store, found: Identity, step: int, others: Collection[int]) -> Copied:
    """As of a kept step. others: steps before it that the copy has, too. Raises StateError.

    Changing: a writer has taken away meanwhile what was needed, so that it can be tried again.
    """
    root = store.root
    try:
        records = _records(store, step, others)
        commits = tuple(Commit.from_bytes(record, record_path(root, n)) for n, record in records.items())
        files = {identity.NAME: _program(root, found), delivered.NAME: _delivered(root, step)}
        if (root / keep.NAME).exists():
            files[keep.NAME] = (root / keep.NAME).read_bytes()
        for name, tag in tags.Tags(root).all().items():
            if tag.until is None and tag.step in records:
                files[f"{tags.FOLDER}/{name}"] = (root / tags.FOLDER / name).read_bytes()
        files |= {f"commits/{n:012d}.json": record for n, record in records.items()}
        files |= _checkpoints(root, commits)
    except FileNotFoundError as error:
        raise Changing(f"{error.filename}: went away while it was copied; try again") from None
    except OSError as error:
        raise refused(error, root) from error
    return Copied(commits, files, found.state)


class Changing(StateError):
    """A writer was faster."""


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


def _program(root: Place, found: Identity) -> bytes:
    """The file that says so: while a program is changed there are two."""
    for name in (identity.NAME, identity.NEXT):
        if read_identity(root, name) == found:
            return (root / name).read_bytes()
    raise FileNotFoundError(2, "another program's", str(root / identity.NAME))


def _delivered(root: Place, step: int) -> bytes:
    known = delivered.read_delivered(root)
    return delivered.sealed({name: each.back_at(step) for name, each in known.items()})


def _checkpoints(root: Place, commits: Sequence[Commit]) -> dict[str, bytes]:
    """What the steps' batches need of Spark's checkpoints; of those before the last, what is there yet.

    Raises FileNotFoundError, OSError, and StateError for one that isn't as it was.
    """
    last, files = commits[-1], dict[str, bytes]()
    if last.batch is not None and not recorded(last) and isinstance(root, Path):  # of an older release
        base = root / last.checkpoint
        return {str(path.relative_to(root)): path.read_bytes() for path in base.rglob("*") if path.is_file()}
    for commit in reversed(commits):
        for name, digest in recorded(commit).items() if commit.batch is not None else ():
            if name.startswith("/") or ".." in Path(name).parts:
                raise StateError(
                    f"{root}: a record says that '{name}' is a file of its checkpoint; it is damaged"
                )
            path = f"{commit.checkpoint}/{name}"
            if path not in files:
                file = batch_file(root, commit.checkpoint, name, digest)
                try:
                    files[path] = whole_file(file, digest, root, commit.step)
                except StateError as error:
                    if not isinstance(error.__cause__, FileNotFoundError):
                        raise
                    if commit is last:
                        raise error.__cause__ from None
    return files
