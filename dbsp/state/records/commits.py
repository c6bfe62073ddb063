"""The commit log: one sealed file per step, written whole or not at all.

A record is written to a temporary file and synced; then it is linked to its name, and the directory is
synced. Linking fails where the name is there already, so that no record is ever overwritten. The bytes are on
the disk before the name can be, in whatever order a file system writes back the rest: after a crash or a
power failure at any point the name either isn't there, and the step was acknowledged to nobody, or it is
there with every byte, whether the step was acknowledged or not. Both are fine to go on from.

A file that has its name and isn't whole (empty, torn, zeroed, a bit flipped) is therefore damage that came
later. Nothing takes it for an unfinished write: going on from the step before it would lose a step
silently. To go back is for a person to decide (`dbsp fsck --restore-to`).

The newest record has a second name, `last`, which it is given once the first is on the disk. So a newest
record that was deleted is missed, and comes back.

On a store a record is created where there is no object of its name, which is as good as a link; a store loses
nothing, so that there is no second name.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import is_name
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.identity import FORMAT, NAME, NUMBERED, refuse_other
from dbsp.state.records.places import Place, delete, names_in
from dbsp.state.records.reading import Reading
from dbsp.state.records.sealed import seal, unseal

RECORDS = "commits"
LAST = Path(RECORDS, "last")
# Spark's, of the sources; a program whose sources changed has another, with the step's number
CHECKPOINT = "checkpoint"
_CHECKPOINT = re.compile(rf"{CHECKPOINT}(-\d+)?")
# what a chunk of format 1 has: its segment, offset and length, its rows, and the ends of its range
_BARE = 6

log = logging.getLogger("dbsp")


@dataclass(frozen=True)
class Commit:
    """What is true after a step.

    state: the manifest of live batches (`State.to_json`). changes: per view, the chunks of its delta.
    segments: every file this commit needs. stream, batch: the micro-batch that the step was, if it was
    one, and the streaming query it belongs to. offsets: digests of its checkpoint's files. machine_clock:
    nobody gave the step its clock. attempt: which try at the step it is, so that no two records are the same.
    views: the name of the trace or log in whose layout a view's changes are. initial: what a sink that began
    with this step gets instead of its views' changes: by target, like `changes`. format: before 3, traces are
    known by the numbers of nodes. instant: when the step counts as made (`dbsp.running.clock.instant`).
    driven: a caller gave it. oldest: from which step on none was missing when it was made; 0: nobody knows.
    checkpoint: the folder that `offsets` is of. requests: by key, the last steps asked for under one.
    reading: how the tables were read; None: an older release has written it, which didn't say.
    """

    step: int
    fingerprint: str
    state: Mapping[str, object]
    clock: datetime | None = None
    changes: Mapping[str, list[list[object]]] = field(default_factory=dict)
    segments: frozenset[str] = frozenset()
    stream: str = ""
    batch: int | None = None
    offsets: object = None
    waterlines: Mapping[str, int | float | str] = field(default_factory=dict)
    machine_clock: bool = False
    attempt: str = ""
    views: Mapping[str, str] = field(default_factory=dict)
    initial: Mapping[str, Mapping[str, list[list[object]]]] = field(default_factory=dict)
    format: int = FORMAT
    instant: datetime | None = None
    driven: bool = False
    oldest: int = 0
    checkpoint: str = CHECKPOINT
    requests: Mapping[str, int] = field(default_factory=dict)
    reading: Reading | None = None

    def changes_for(self, target: str) -> Mapping[str, list[list[object]]]:
        """What a sink gets of this step, by view."""
        return {**self.changes, **self.initial.get(target, {})}

    def to_bytes(self) -> bytes:
        record = {
            "step": self.step,
            "clock": self.clock.isoformat() if self.clock else None,
            "machine_clock": self.machine_clock,
            "instant": self.instant.isoformat() if self.instant else None,
            "driven": self.driven,
            "oldest": self.oldest,
            "checkpoint": self.checkpoint,
            "stream": self.stream,
            "batch": self.batch,
            "offsets": self.offsets,
            "requests": self.requests,
            "reading": self.reading.to_json() if self.reading else None,
            "waterlines": self.waterlines,
            "program": self.fingerprint,
            "attempt": self.attempt,
            "format": self.format,
            "views": self.views,
            "initial": self.initial,
            "changes": self.changes,
            "segments": sorted(self.segments),
            "state": self.state,
        }
        return seal("commit", record)

    @staticmethod
    def from_bytes(data: bytes, path: Place) -> Commit:
        """Raises StateError for a damaged record, and for that of another step under this path's name."""
        advice = (
            f"restore it from a backup, or go back to a whole step: `dbsp fsck {path.parents[1]}` names it"
        )
        record: dict[str, Any] = unseal("commit", data, path, advice)  # type: ignore[assignment]
        written = _format_of(record)
        refuse_other(path.parents[1], written)
        if path.name not in (LAST.name, record_name(record["step"])):
            raise StateError(f"{path}: damaged: the file is the record of step {record['step']}; {advice}")
        outside = [name for name in record["segments"] if not is_name(name)]
        if outside:  # what isn't needed any more is deleted
            raise StateError(f"{path}: damaged: '{outside[0]}' is no name of a segment; {advice}")
        checkpoint = record.get("checkpoint", CHECKPOINT)
        if not _CHECKPOINT.fullmatch(checkpoint):
            raise StateError(f"{path}: damaged: '{checkpoint}' is no name of a checkpoint; {advice}")
        clock = datetime.fromisoformat(record["clock"]) if record["clock"] else None
        instant = datetime.fromisoformat(record["instant"]) if record.get("instant") else clock
        return Commit(
            step=record["step"],
            fingerprint=record["program"],
            state=record["state"],
            clock=clock,
            changes=record["changes"],
            segments=frozenset(record["segments"]),
            stream=record["stream"],
            batch=record["batch"],
            offsets=record["offsets"],
            waterlines=record["waterlines"],
            machine_clock=record["machine_clock"],
            attempt=record["attempt"],
            views=record.get("views", {}),
            initial=record.get("initial", {}),
            format=written,
            instant=instant,
            driven=record.get("driven", clock is not None and not record["machine_clock"]),
            oldest=record.get("oldest", 0),
            checkpoint=checkpoint,
            requests=record.get("requests", {}),
            reading=Reading.from_json(record["reading"]) if record.get("reading") else None,
        )


def _format_of(record: Mapping[str, Any]) -> int:
    """Before 3 a record doesn't say; before 2 its chunks had no checksums."""
    if "format" in record:
        return int(record["format"])
    runs = [chunks for spine in record["state"]["spines"].values() for _, chunks in spine["runs"]]
    every = (chunk for chunks in (*runs, *record["changes"].values()) for chunk in chunks)
    return NUMBERED if all(len(chunk) > _BARE for chunk in every) else NUMBERED - 1


def traces_of(commit: Commit) -> set[str]:
    """The names of the traces and logs that a record has."""
    spines: Any = commit.state["spines"]
    return {*spines}


def record_path(root: Place, step: int) -> Place:
    """Where a step's record is."""
    return root / RECORDS / record_name(step)


def record_name(step: int) -> str:
    """Of its file."""
    return f"{step:012d}.json"


def recorded_steps(root: Place) -> list[int]:
    """The steps that have a record, ascending. Raises StateError."""
    try:
        with disk(root):
            names = names_in(root / "commits")
    except StateError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        if (root / NAME).exists():
            missing = f"{root / 'commits'}: damaged: the directory is missing; restore it from a backup"
            raise StateError(missing) from None
        return []
    return sorted(int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit())


def load_commit(root: Place, step: int) -> Commit | None:
    """The record of a step; None: there is none, or a writer has just forgotten it. Raises StateError."""
    path = record_path(root, step)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(f"{path}: can't be read: {error.strerror}") from None
    return Commit.from_bytes(data, path)


def mark_last(root: Place, step: int) -> None:
    """Give the step's record its second name. One more witness, so that no failure of it matters."""
    if isinstance(root, ObjectPath):
        return
    new = root / "commits" / "last.tmp"
    try:
        new.unlink(missing_ok=True)
        os.link(root / RECORDS / record_name(step), new)
        os.replace(new, root / LAST)
    except OSError as error:
        log.warning("%s: %s", new, error.strerror)


def marked_last(root: Place) -> Commit | None:
    """The record that was the newest, if it says so."""
    if isinstance(root, ObjectPath):
        return None
    try:
        data = (root / LAST).read_bytes()
        return Commit.from_bytes(data, root / LAST)
    except (OSError, StateError):
        return None


def write_whole(path: Place, data: bytes, durable: bool = True) -> None:
    """The file with that content, or whatever was there before. durable: through a power failure."""
    if isinstance(path, ObjectPath):
        path.write(data)
        return
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)
    if durable:
        sync(path.parent)


def create_whole(path: Place, data: bytes, durable: bool = True) -> None:
    """The file with that content, in one instant, where there was none. Raises FileExistsError.

    When it raises anything else the file may be there, or not. durable: the content, before it has the name;
    that the name itself survives a power failure takes a `sync` of the directory.
    """
    if isinstance(path, ObjectPath):
        path.create(data)
        return
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.link(temporary, path)
    finally:
        delete(temporary)


def move(path: Place, to: Place) -> None:
    """In place of what is there. Raises OSError."""
    if isinstance(path, ObjectPath):
        write_whole(to, path.read_bytes())
        path.unlink()
    else:
        assert isinstance(to, Path)
        os.replace(path, to)


def sync(path: Place) -> None:
    """Make a file's content, or the names in a directory, survive a power failure."""
    if isinstance(path, ObjectPath):
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
