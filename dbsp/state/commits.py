"""The commit log: one file per step, written whole or not at all.

    {"checksum": "<sha256 of what follows>", "commit": {...}}\\n

A record is written to a temporary file, synced, linked to its name, and the directory is synced: after a
crash at any point its name either isn't there or holds every byte. Linking fails where the name is there
already, so that no record is ever overwritten. A file that ends early was therefore never
acknowledged to anybody (a filesystem tore it), and the step before it is the last one. A file that is
whole but fails its checksum was damaged later, and going on from before it would lose a step silently.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from dbsp.circuits.errors import StateError
from dbsp.state.sweep import delete

_HEAD = b'{"checksum": "%s", "commit": '
_HEAD_LENGTH = len(_HEAD) - 2 + 64
_TAIL = b"}\n"


@dataclass(frozen=True)
class Commit:
    """What is true after a step.

    state: the manifest of live batches (`State.to_json`). changes: per view, the chunks of its delta.
    segments: every file this commit needs. stream, batch: the micro-batch that the step was, if it was
    one, and the streaming query it belongs to. offsets: of the sources, as they give them. machine_clock:
    nobody gave the step its clock. attempt: which try at the step it is, so that no two records are the same.
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
    waterlines: Mapping[str, object] = field(default_factory=dict)
    machine_clock: bool = False
    attempt: str = ""

    def to_bytes(self) -> bytes:
        record = {
            "step": self.step,
            "clock": self.clock.isoformat() if self.clock else None,
            "machine_clock": self.machine_clock,
            "stream": self.stream,
            "batch": self.batch,
            "offsets": self.offsets,
            "waterlines": self.waterlines,
            "program": self.fingerprint,
            "attempt": self.attempt,
            "changes": self.changes,
            "segments": sorted(self.segments),
            "state": self.state,
        }
        body = json.dumps(record, separators=(",", ":")).encode()
        return _HEAD % hashlib.sha256(body).hexdigest().encode() + body + _TAIL

    @staticmethod
    def from_bytes(data: bytes, where: str) -> Commit | None:
        """None: the file ends early. Raises StateError for a damaged one."""
        if not data.endswith(_TAIL):
            return None
        head, body = data[:_HEAD_LENGTH], data[_HEAD_LENGTH : -len(_TAIL)]
        if head != _HEAD % hashlib.sha256(body).hexdigest().encode():
            raise StateError(
                f"{where}: damaged commit (its checksum differs); restore it from a backup, or delete it to "
                "go back to the step before, and feed this one again"
            )
        record = json.loads(body)
        return Commit(
            step=record["step"],
            fingerprint=record["program"],
            state=record["state"],
            clock=datetime.fromisoformat(record["clock"]) if record["clock"] else None,
            changes=record["changes"],
            segments=frozenset(record["segments"]),
            stream=record["stream"],
            batch=record["batch"],
            offsets=record["offsets"],
            waterlines=record["waterlines"],
            machine_clock=record.get("machine_clock", False),
            attempt=record.get("attempt", ""),
        )


def write_whole(path: Path, data: bytes, durable: bool = True) -> None:
    """The file with that content, or whatever was there before. durable: through a power failure."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)
    if durable:
        sync(path.parent)


def create_whole(path: Path, data: bytes, durable: bool = True) -> None:
    """The file with that content, in one instant, where there was none. Raises FileExistsError.

    When it raises anything else the file may be there, or not. durable: the content, before it has the name;
    that the name itself survives a power failure takes a `sync` of the directory.
    """
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


def sync(path: Path) -> None:
    """Make a file's content, or the names in a directory, survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
