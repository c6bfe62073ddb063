"""The steps before the last: which of them stay, and how the others go.

The record of a step goes first, once nothing keeps it (`Keep`, `Tags`). What only it needed goes a step
later, when the deletion of its record has been synced: no power failure brings back a record without its
segments. On a store nothing is deleted but by name: records are collected over some steps and go in one
request. A record that couldn't be read at the opening is read again when something is about to go: what it
may need waits until it can be read, or is gone.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.segments import Segments
from dbsp.state.keeping.keep import Keep
from dbsp.state.keeping.kept import Kept, Known, begun_by
from dbsp.state.keeping.sweep import Sweep
from dbsp.state.keeping.tags import Tags
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.commits import create_whole, load_commit, record_name, record_path
from dbsp.state.records.places import Place, delete

# of a store: how many records have expired before they are deleted, in one request
EXPIRED = 20

log = logging.getLogger("dbsp")


class Past:
    """Of a state directory. durable: what is put back survives a power failure.

    held: steps that stay for as long as this process reads them, whatever the rule and the tags say. lacking:
    the first step that a sink hasn't got; it stays, and so do those after it. None: nobody waits for any.
    """

    def __init__(self, root: Place, segments: Segments, keep: Keep, durable: bool) -> None:
        self.keep = keep
        self.kept = Kept()
        self.held = frozenset[int]()
        self.lacking: int | None = None
        self.tags = Tags(root)
        self.sweep = Sweep(segments)
        self._root = root
        self._segments = segments
        self._durable = durable
        self._on_store = isinstance(root, ObjectPath)
        self._expired: dict[int, Known] = {}  # those whose record is to be deleted
        self._freed: set[str] = set()  # of those whose record was deleted since `commits` was last synced
        self._waiting: set[str] = set()  # the same, which a record that can't be read may need

    def __contains__(self, step: int) -> bool:
        """Whether a step can be read."""
        return step in self.kept or step in self._expired

    @property
    def oldest(self) -> int:
        """From which step on all stay, by the rule and for the sinks."""
        ruled = self.kept.oldest(self.keep)
        return ruled if self.lacking is None else min(ruled, self.lacking)

    def needed(self) -> set[str]:
        """The segments that a record is known to refer to, or one that is to be deleted."""
        return self.kept.segments().union(*(known.needs for known in self._expired.values()))

    def forget(self) -> None:
        """The records that nothing keeps, and what only those needed that were deleted before."""
        self.sweep.add(self._freed)
        self._freed = set()
        try:
            for step in self._over():
                self._expired[step] = self.kept.remove(step)
            self._forget_expired()
        except StateError as error:  # what a damaged tag pins isn't known
            log.warning("%s; nothing is forgotten meanwhile", error)
            self._take_back(set(self._expired))
            self._freed, self._waiting = set(), set()  # the next opening knows whether they go
            return
        self.tags.sweep()
        self.sweep.beside()

    def forget_again(self) -> list[int]:
        """What was forgotten, and is listed: a power failure brought it back, or a store still has it."""
        over = self._over()
        for step in over:
            known = self.kept.remove(step)
            if self._on_store:
                self._expired[step] = known
        return over

    def put_back(self, is_gone: Callable[[int], bool]) -> None:
        """The records of steps that were tagged while they were forgotten. Raises StateError."""
        for tag in [tag for tag in self.tags.all().values() if is_gone(tag.step)]:
            path, commit = record_path(self._root, tag.step), tag.commit_in(self._root)
            if not self._are_there(commit.segments):
                log.warning("tag '%s' came too late: step %d had gone", tag.name, tag.step)
                self.tags.remove(tag.name)
                continue
            self._freed -= commit.segments
            with disk(path), suppress(FileExistsError):
                create_whole(path, tag.record.encode(), self._durable)
            self.kept.add(tag.step, Known.of(commit))

    def said(self) -> str:
        """What is kept, in words."""
        if not self.kept.steps:
            return "no step is"
        tagged = [f"{tag.step} ('{name}')" for name, tag in self.tags.all().items()]
        beside = f", and tagged are {', '.join(tagged)}" if tagged else ""
        return f"steps {self.kept.unbroken} to {self.kept.steps[-1]} are{beside}"

    def close(self) -> None:
        """Waits for what is being deleted."""
        if self._on_store:  # nobody looks for what has no record any more
            self.sweep.add(self._freed)
        self.sweep.close()

    def _over(self) -> list[int]:
        """The steps that nothing keeps any more; of a store, by the tags that were there last."""
        if not self.kept.steps:
            return []
        oldest = self.oldest
        if min(self.kept) >= oldest:
            return []
        pinned = self.tags.known_pinned() if self._on_store else self.tags.pinned()
        return self.kept.past(oldest, pinned | self.held)

    def _forget_expired(self) -> None:
        """Delete the records, but for those that a tag keeps by now. Raises StateError."""
        if len(self._expired) < (EXPIRED if self._on_store else 1):
            return
        self._take_back(self.tags.pinned() & self._expired.keys())
        self._read_again()
        gone = self._deleted()
        for step in gone:
            names, others = self._expired.pop(step).needs, self._expired.values()
            self._free(names.difference(self.kept.beside(step), *(known.needs for known in others)))
        if gone:
            self.put_back({*gone}.__contains__)

    def _free(self, names: Collection[str]) -> None:
        """Segments that no record is known to need any more, and those that were waiting."""
        if self._waiting:
            names = {*names, *self._waiting} - self.needed()
        unread = [step for step, known in self._expired.items() if known.segments is None]
        last = max(self.kept.unread, *unread, 0)
        self._waiting = {name for name in names if begun_by(name) <= last} if last else set()
        self._freed |= {*names} - self._waiting

    def _read_again(self) -> None:
        """What is about to go, and the last of the others: for which most waits."""
        for step in [step for step, known in self._expired.items() if known.segments is None]:
            if (known := self._known_now(step)) is not None:
                self._expired[step] = known
        while (step := self.kept.unread) and (known := self._known_now(step)) is not None:
            self.kept.add(step, known)

    def _known_now(self, step: int) -> Known | None:
        with suppress(StateError):
            commit = load_commit(self._root, step)
            return None if commit is None else Known.of(commit)
        return None

    def _take_back(self, steps: Collection[int]) -> None:
        for step in steps:
            self.kept.add(step, self._expired.pop(step))

    def _deleted(self) -> list[int]:
        """The steps whose records are gone; the others can still be read."""
        records = self._root / "commits"
        if isinstance(records, Path):
            return [step for step in sorted(self._expired) if delete(record_path(self._root, step))]
        try:
            with disk(self._root):
                records.remove(map(record_name, self._expired))
        except StateError as error:
            log.warning("%s; tried again later", error)
            return []
        return sorted(self._expired)

    def _are_there(self, segments: frozenset[str]) -> bool:
        if self._on_store:
            return segments <= {*self._segments.names("")}
        return all(os.path.exists(Path(self._segments.root) / name) for name in segments)
