"""program.json: which program a state directory belongs to.

A directory whose program is being changed has the new program under NEXT, from just before the record of the
step that changes it is there. Wherever that ends, the last record says which of the two it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.program import Program
from dbsp.state.records.manifest import Manifest, manifest_of
from dbsp.state.records.places import Place, names_in
from dbsp.state.records.sealed import read_sealed, seal

# 4: all columns of a chunk are plain; 3: and a piece of a merge is one chunk; 2: and traces are known by the
# numbers of their nodes; 1: and there are no checksums.
# A state of 2 to 4 is read; its next record, and before it program.json, are of this format.
FORMAT = 5
NUMBERED = 2
NAME = "program.json"
NEXT = "program.next.json"
# what a backup has instead (`dbsp.history.backup`)
BACKUP = "backup.json"
_OURS = {"commits", "segments", "lock", "lease", "checkpoint", "delivered.json", "keep.json", "tags"}
_OURS |= {name + end for name in (NAME, NEXT) for end in ("", ".tmp")}


@dataclass(frozen=True)
class Identity:
    """The program a state directory belongs to. text: all of it, so that the directory can be queried, with
    `${NAME}` in place of what it stood for in settings of connections.

    functions: those that aren't in the text, as records. manifest: what it keeps; of a directory in the
    format before, nothing is known of that. format: of the file. state: by which the directory is told from
    others, whatever becomes of its program and its place; nothing where it hasn't been given one.
    """

    name: str
    fingerprint: str
    text: str
    timezone: str = "UTC"
    functions: tuple[Declared, ...] = ()
    manifest: Manifest = field(default_factory=Manifest)
    format: int = FORMAT
    state: str = field(default="", compare=False)

    def describes(self, fingerprint: str, traces: Iterable[str]) -> bool:
        """Whether a record of that program, with traces of these names, is one of this program."""
        return self.fingerprint == fingerprint and {*traces} <= self.manifest.traces.keys()

    def to_bytes(self) -> bytes:
        """The content of program.json."""
        record = {
            "format": FORMAT,
            "program": self.name,
            "fingerprint": self.fingerprint,
            "timezone": self.timezone,
            "text": self.text,
            "functions": [function.to_json() for function in self.functions],
            "manifest": self.manifest.to_json(),
            "state": self.state,
        }
        return seal("state of", record, indent=1)


def another_state() -> str:
    """What no other state is told by."""
    return secrets.token_hex(8)


def identity_of(program: Program) -> Identity:
    """Of a compiled program."""
    text = program.told or program.text
    known = (program.name, program.fingerprint, text, program.timezone, program.functions)
    return Identity(*known, manifest_of(program))


def read_identity(root: Place, name: str = NAME) -> Identity | None:
    """Which program the directory belongs to; None: it has no program.json. Raises StateError."""
    path = root / name
    advice = (
        "restore it from a backup, or delete it and open the directory with its program, which writes it anew"
    )
    try:
        record: Any = read_sealed("state of", path, advice)
    except StateError:
        _refuse_older(path)
        raise
    if record is None:
        return None
    refuse_other(root, record["format"])
    functions = tuple(Declared.from_json(each) for each in record["functions"])
    known = (record["program"], record["fingerprint"], record["text"], record["timezone"], functions)
    if record["format"] == NUMBERED:
        return Identity(*known, format=NUMBERED)
    manifest = Manifest.from_json(record["manifest"])
    return Identity(*known, manifest, record["format"], record.get("state", ""))


class OtherFormat(StateError):
    """The state is in a format that this release doesn't read."""


def refuse_other(root: Place, written: int) -> None:
    """Raises OtherFormat."""
    if written > FORMAT:
        raise OtherFormat(
            f"{root}: written by a newer dbsp (format {written}, this one reads {NUMBERED} to {FORMAT}); "
            "upgrade dbsp"
        )
    if written < NUMBERED:  # whose rows a trace holds is in the code of that release alone
        raise OtherFormat(
            f"{root}: written by an older dbsp (format {written}), which didn't say whose rows a trace "
            "holds, so that it can't be migrated; feed a new state directory the tables from their start, or "
            "the rows of views that `dbsp query --output json` of that release gives"
        )


def _refuse_older(path: Place) -> None:
    with disk(path):
        if path.read_bytes()[:100].lstrip().startswith(b'{\n "format": 1,'):
            refuse_other(path.parent, 1)


def no_state(root: Place, lacks: str = NAME) -> StateError:
    """Of a directory that no state is in. lacks: what each state has."""
    if (root / BACKUP).exists():
        return StateError(
            f"{root}: is a backup; make a state directory of it, and give that one: dbsp restore {root} STATE"
        )
    return StateError(f"{root}: no state directory (it has no {lacks})")


def refuse_foreign(root: Place) -> None:
    """Raises StateError for somebody else's file or directory."""
    if isinstance(root, Path) and root.exists() and not root.is_dir():
        raise StateError(f"{root}: is a file; state needs a directory")
    if not (root / NAME).exists() and root.is_dir():
        names = {*names_in(root)}
        if BACKUP in names:
            raise no_state(root)
        strange = sorted(name for name in names - _OURS if not name.startswith("checkpoint-"))
        if strange:
            raise StateError(
                f"{root}: is no state directory (it holds '{strange[0]}' and no program.json); "
                "use an empty or a new directory"
            )


class OtherProgram(StateError):
    """The state is another program's."""


def of_before(root: Place, step: int, identity: Identity) -> OtherProgram:
    """The last step is of the program before, as after the state went back; its text isn't there any more."""
    return OtherProgram(
        f"{root}: step {step} was made by another program than '{identity.name}' "
        f"({identity.fingerprint[:12]}), as the state has gone back to a step before it was changed; open it "
        "with the program of that step, and from then on with --evolve (evolve=True)"
    )


def of_another(root: Place, name: str, fingerprint: str, identity: Identity) -> OtherProgram:
    """The directory is of another program."""
    return OtherProgram(
        f"{root}: holds the state of '{name}' ({fingerprint[:12]}), which differs "
        f"from '{identity.name}' ({identity.fingerprint[:12]}); use another state directory, or "
        "delete this one to start from nothing"
    )
