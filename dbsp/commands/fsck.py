"""`dbsp fsck`: read everything in a state directory, say what is damaged, and go back to a step that is
whole.

A step is whole when its record is, every chunk that the record refers to, and the files of the checkpoint
that its batch needs. Any whole step that is kept can be gone back to: later records are removed, deliveries
of later steps are forgotten, and so are later batches, which are then read again. What is outside the
directory is for its owner to put right: later `__step=n` of file sinks, and what other sinks were sent.

On a store, segments of past steps that nothing refers to are deleted: of tasks that ran twice, and of sweeps
that ended early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.commands.shown.steps import named_steps
from dbsp.history.chunks import chunks_of
from dbsp.pipeline.spark.checkpoints.on_store import checkpoint_of
from dbsp.state.keeping.keep import read_keep
from dbsp.state.keeping.kept import Kept, Known, gaps
from dbsp.state.keeping.tags import Tags
from dbsp.state.objects.path import SEGMENTS, ObjectPath
from dbsp.state.opening import only_writer, open_segments
from dbsp.state.records.commits import (
    LAST,
    Commit,
    load_commit,
    marked_last,
    record_path,
    recorded_steps,
    sync,
    write_whole,
)
from dbsp.state.records.delivered import (
    Delivery,
    check_delivered,
    first_lacking,
    read_delivered,
    write_delivered,
)
from dbsp.state.records.identity import NAME, OtherFormat, no_state, read_identity
from dbsp.state.records.places import Place, names_in
from dbsp.state.recovery import begun_after

Result = TypeVar("Result")


def examine(directory: Place) -> tuple[list[str], list[int]]:
    """(what is damaged, the steps that are whole). Raises StateError where no state is, or it is in use."""
    with _alone(directory), TemporaryDirectory(prefix="dbsp-fsck-") as copies:
        examination = _Examination(directory, Path(copies))
        damaged, whole = examination.run()
        if not damaged:
            examination.sweep(whole)
        return damaged, whole


class _Examination:
    """copies: an empty directory; what a store holds is looked at, not what this host has of it."""

    def __init__(self, root: Place, copies: Path) -> None:
        self.root = root
        self.damaged: list[str] = []
        self.segments = open_segments(root, copied=copies)
        self.bad: dict[Chunk, bool] = {}
        self.kept = Kept()
        self.last: Commit | None = None  # of those that can be read

    def run(self) -> tuple[list[str], list[int]]:
        steps = recorded_steps(self.root)
        self._attempt(self._check_identity)
        whole = [step for step in steps if self._is_whole(step)]
        marked = marked_last(self.root)
        newest = max(steps[-1] if steps else 0, marked.step if marked is not None else 0)
        missing = gaps([*(steps or [newest - 1]), newest + 1], self._oldest()) if newest else []
        self.damaged += [f"{record_path(self.root, step)}: damaged: the file is missing" for step in missing]
        if not missing:
            self._attempt(lambda: begun_after(self.root, newest, self.segments))
        self._attempt(lambda: read_keep(self.root))
        self._attempt(Tags(self.root).all)
        self._attempt(lambda: check_delivered(self.root, read_delivered(self.root), max(steps, default=0)))
        return self.damaged, whole

    def _oldest(self) -> int:
        """From which step on none should be missing: before are tagged ones. 0: nobody knows."""
        if self.last is None:
            return 0
        with suppress(StateError):  # said elsewhere
            identity = read_identity(self.root)
            # fewer may be kept now than when the last step was made
            ruled = self.kept.oldest(read_keep(self.root))
            lacking = first_lacking(self.root, identity.manifest.targets if identity is not None else ())
            return max(self.last.oldest, ruled if lacking is None else min(ruled, lacking))
        return self.last.oldest

    def sweep(self, steps: list[int]) -> None:
        """Of a store. A writer that was overtaken may yet commit the step after the last: that one's stay."""
        if isinstance(self.root, ObjectPath) and steps:
            commits = [load_commit(self.root, step) for step in recorded_steps(self.root)]
            # a writer that died may have taken the record of a tag from the log: the next one puts it back
            commits += [tag.commit_in(self.root) for tag in Tags(self.root).all().values()]
            needed = frozenset().union(*(commit.segments for commit in commits if commit is not None))
            with disk(self.root):
                names = {*names_in(self.root / SEGMENTS)} - needed
                (self.root / SEGMENTS).remove(
                    n for n in names if n[:12].isdigit() and int(n[:12]) <= steps[-1]
                )

    def _check_identity(self) -> None:
        if read_identity(self.root) is None:
            raise StateError(f"{self.root / NAME}: damaged: the file is missing")

    def _is_whole(self, step: int) -> bool:
        before = len(self.damaged)
        bad = False
        commit: Commit | None = self._attempt(lambda: load_commit(self.root, step))
        if commit is None:
            return False
        self.last = commit
        self.kept.add(step, Known.of(commit))
        for owner, chunk in chunks_of(commit):
            if chunk not in self.bad:
                count = len(self.damaged)
                self._attempt(partial(self.segments.check, chunk, owner))
                self.bad[chunk] = len(self.damaged) > count
            bad |= self.bad[chunk]
        if commit.batch is not None and commit.offsets:
            self._attempt(partial(checkpoint_of(self.root, commit.checkpoint).check, commit))
        return not bad and len(self.damaged) == before

    def _attempt(self, act: Callable[[], Result]) -> Result | None:
        """What it returns; what it raises is noted, without advice. Raises OtherFormat: that is no damage."""
        try:
            return act()
        except OtherFormat:
            raise
        except StateError as error:
            self.damaged.append(str(error).split("; ", 1)[0])
            return None


def go_back(directory: Place, step: int) -> list[str]:
    """Make a whole step the last one; what is left to do by hand. Raises StateError, having done nothing."""
    with _alone(directory), TemporaryDirectory(prefix="dbsp-fsck-") as copies:
        examination = _Examination(directory, Path(copies))
        _, whole = examination.run()
        if step not in whole:
            others = (
                f"whole: {named_steps(whole)}"
                if whole
                else "none is whole; restore the directory from a backup"
            )
            raise StateError(f"{directory}: step {step} is not there, or not whole; {others}")
        commit = load_commit(directory, step)
        assert commit is not None
        recorded = recorded_steps(directory)
        gone = [later for later in recorded if later > step]
        _let_go(directory, commit, [kept for kept in recorded if kept <= step], examination.last)
        left = _forget_deliveries(directory, step)
        tags = Tags(directory)
        with disk(directory):
            for tag in tags.all().values():
                if tag.step > step:
                    tags.remove(tag.name)
                    left.append(f"tag '{tag.name}' was of step {tag.step}, and is gone")
            if isinstance(directory, Path):
                (directory / LAST).unlink(missing_ok=True)
            # the last one first: wherever this ends, the rest is a log
            for later in reversed(gone):
                record_path(directory, later).unlink()
            sync(directory / "commits")
            _drop_segments(directory, step)
        checkpoint_of(directory, commit.checkpoint).settle(commit)
    return left


def _let_go(root: Place, commit: Commit, kept: list[int], newest: Commit | None) -> None:
    """Say in the record that steps between it and tagged ones were let go since: they would seem lost.

    newest: the last record that could be read, which knows what was let go until then.
    """
    oldest = min(commit.step, newest.oldest if newest is not None else 0)
    if oldest > commit.oldest and gaps(kept, commit.oldest):
        with disk(root):
            write_whole(record_path(root, commit.step), replace(commit, oldest=oldest).to_bytes())


def _forget_deliveries(root: Place, step: int) -> list[str]:
    """Every later step will be delivered anew."""
    try:
        delivered = read_delivered(root)
    except StateError:
        return [
            f"{root / 'delivered.json'}: damaged; delete it, and every step that is kept is delivered again"
        ]
    ahead = {target: each for target, each in delivered.items() if each.step > step}
    if delivered:
        back = {target: each.back_at(step) for target, each in delivered.items()}
        write_delivered(root, back, durable=True)
    return [_to_do(target, each, step) for target, each in ahead.items()]


def _to_do(target: str, each: Delivery, step: int) -> str:
    steps = list(range(step + 1, each.step + 1))
    if each.writer is not None:
        until = f"until it is at step {step}, too, or begun anew: the next delivery says how"
        return f"'{target}': has got {named_steps(steps)} already, and gets nothing {until}"
    if each.directory is None:
        return f"'{target}': has got {named_steps(steps)} already, and will get what is made of them now, too"
    first, last = (f"__step={n}" for n in (steps[0], steps[-1]))
    which = first if first == last else f"{first} to {last}"
    return f"'{target}': delete {which} in {each.directory}, before a reader takes them for new ones"


def _drop_segments(root: Place, step: int) -> None:
    """Those begun by later steps: they would tell of records that were lost."""
    later = [n for n in names_in(root / SEGMENTS) if n[:12].isdigit() and int(n[:12]) > step]
    if isinstance(root, ObjectPath):
        (root / SEGMENTS).remove(later)
    else:
        for name in later:
            (root / SEGMENTS / name).unlink()


@contextmanager
def _alone(root: Place) -> Iterator[None]:
    """While nobody writes to the directory. Raises StateError."""
    with disk(root):
        # where no record is on a store, nothing says that any may be
        is_begun = (root / NAME).exists() if isinstance(root, ObjectPath) else False
        if not is_begun and not (root / "commits").is_dir():
            raise no_state(root, "commits/")
        lock = only_writer(root)
    try:
        yield
    finally:
        lock.close()
