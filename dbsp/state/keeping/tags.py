"""DIR/tags/NAME: a step that stays, under a name, until somebody takes the name away or its time is over.

Anybody may tag a step, beside the writer and without its lock. The tag holds the step's record. It is made,
and counts if the record is still in the log then; the writer takes the record from the log, and puts it back
if a tag has come meanwhile. Whoever is first, either the step stays or the one who tags is told that it has
gone: its segments go a step later at the earliest. On a store the writer looks for tags, by one LIST, when it
is about to delete records, and once more when it has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError, did_you_mean
from dbsp.state.records.commits import Commit, create_whole, record_path, sync
from dbsp.state.records.places import Place, delete
from dbsp.state.records.sealed import read_sealed, seal

FOLDER = "tags"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}")
_ADVICE = "restore it from a backup, or delete the tag with `dbsp tag --delete`"


@dataclass(frozen=True)
class Tag:
    """record: the content of the step's file in the log. until: of this machine's clock; None: for good.

    since: the steps from there on stay, too, but for those that were just going when it was made.
    """

    name: str
    step: int
    record: str
    until: datetime | None = None
    since: int | None = None

    @property
    def steps(self) -> range:
        return range(self.step if self.since is None else self.since, self.step + 1)

    def commit_in(self, root: Place) -> Commit:
        """The record. Raises StateError."""
        return Commit.from_bytes(self.record.encode(), record_path(root, self.step))

    @property
    def is_over(self) -> bool:
        return self.until is not None and self.until <= datetime.now(UTC)


class Tags:
    """Of a state directory. What is read of a file is kept for as long as the file is the same."""

    def __init__(self, root: Place) -> None:
        self.root = root
        self._read: dict[tuple[str, Hashable], Tag] = {}

    def all(self) -> dict[str, Tag]:
        """By name, those whose time isn't over. Raises StateError for a damaged one."""
        found: dict[tuple[str, Hashable], Tag] = {}
        with disk(self.root):
            for key in self._stamped():
                tag = self._read.get(key) or self._load(key[0])
                if tag is not None:
                    found[key] = tag
        self._read = found
        return {tag.name: tag for tag in sorted(found.values(), key=lambda tag: tag.name) if not tag.is_over}

    def steps(self) -> dict[int, Tag]:
        """A tag of each step that has any."""
        return {tag.step: tag for tag in self.all().values()}

    def pinned(self) -> set[int]:
        """All steps that any of them keeps. Raises StateError."""
        self.all()
        return self.known_pinned()

    def known_pinned(self) -> set[int]:
        """The same, as of when the tags were last looked at."""
        return {step for tag in self._read.values() if not tag.is_over for step in tag.steps}

    def add(self, name: str, step: int, lasting: timedelta | None = None, since: int | None = None) -> None:
        """since: see `Tag`. Raises StateError where the name is taken, or no name, or the step isn't kept."""
        path = self._path(name)
        tags = self.all()
        if name in tags:
            raise StateError(
                f"tag '{name}' is of step {tags[name].step}; delete it first, or use another name"
            )
        with disk(self.root):
            if any(tag.name == name for tag in self._read.values()):
                path.unlink(missing_ok=True)  # its time is over
            record = record_path(self.root, step)
            gone = StateError(f"{self.root}: step {step} is not kept, so there is nothing to tag")
            try:
                content = record.read_bytes().decode()
            except FileNotFoundError:
                raise gone from None
            until = None if lasting is None else (datetime.now(UTC) + lasting).isoformat()
            if isinstance(path, Path):
                path.parent.mkdir(exist_ok=True)
            try:
                tag_of = {"step": step, "since": since, "until": until, "record": content}
                create_whole(path, seal("tag", tag_of))
            except FileExistsError:
                raise StateError(f"tag '{name}' is there already; delete it first") from None
            sync(path.parent)
            sync(self.root)
            if not record.exists():
                path.unlink(missing_ok=True)
                raise gone

    def remove(self, name: str) -> None:
        """The step goes when it is its turn. Raises StateError where there is no such tag."""
        with disk(self.root):
            path = self._path(name)
            if not path.exists():
                names = [name for name, _ in self._stamped()]
                there = ", ".join(sorted(names)) or "none"
                hint = did_you_mean(name, names)
                raise StateError(f"{self.root}: no tag '{name}'; tags: {there}{hint}") from None
            path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete those whose time is over, but for names that somebody has given anew since."""
        for key in [key for key, tag in self._read.items() if tag.is_over]:
            with suppress(StateError):  # damaged since: who looks at all of them says so
                now = self._load(key[0])
                if (now is not None and not now.is_over) or delete(self._path(key[0])):
                    del self._read[key]

    def _stamped(self) -> Iterator[tuple[str, Hashable]]:
        """Their names, each with what is another when the content is. Raises OSError."""
        folder = self.root / FOLDER
        found = _files(folder) if isinstance(folder, Path) else ((e.name, e.stamp) for e in folder.entries())
        return (each for each in found if _NAME.fullmatch(each[0]) and not each[0].endswith(".tmp"))

    def _load(self, name: str) -> Tag | None:
        record: Any = read_sealed("tag", self._path(name), _ADVICE)
        if record is None:
            return None
        until = record["until"]
        ends = until and datetime.fromisoformat(until)
        return Tag(name, record["step"], record["record"], ends, record["since"])

    def _path(self, name: str) -> Place:
        if not _NAME.fullmatch(name) or name.endswith(".tmp"):
            raise StateError(
                f"'{name}' is no name of a tag; use letters, digits, '.', '_' and '-', a letter first"
            )
        return self.root / FOLDER / name


def _files(folder: Path) -> Iterator[tuple[str, Hashable]]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # deleted meanwhile
                status = entry.stat()
                yield entry.name, (status.st_ino, status.st_mtime_ns)
