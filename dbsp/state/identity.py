"""program.json: which program a state directory belongs to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.sql.plans.declared import Declared
from dbsp.state.sealed import read_sealed, seal

FORMAT = 2  # 1 had no checksums
NAME = "program.json"
_OURS = {"program.json", "program.json.tmp", "commits", "segments", "lock", "checkpoint", "delivered.json"}


@dataclass(frozen=True)
class Identity:
    """The program a state directory belongs to. text: all of it, so that the directory can be queried.

    functions: those that aren't in the text, as records.
    """

    name: str
    fingerprint: str
    text: str
    timezone: str = "UTC"
    functions: tuple[Declared, ...] = ()

    def to_bytes(self) -> bytes:
        """The content of program.json."""
        record = {
            "format": FORMAT,
            "program": self.name,
            "fingerprint": self.fingerprint,
            "timezone": self.timezone,
            "text": self.text,
            "functions": [function.to_json() for function in self.functions],
        }
        return seal("state of", record, indent=1)


def read_identity(root: Path) -> Identity | None:
    """Which program the directory belongs to; None: it has no program.json. Raises StateError."""
    path = root / NAME
    _refuse_older(path)
    advice = (
        "restore it from a backup, or delete it and open the directory with its program, which writes it anew"
    )
    record: Any = read_sealed("state of", path, advice)
    if record is None:
        return None
    if record["format"] != FORMAT:
        raise StateError(
            f"{root}: written by a newer dbsp (format {record['format']}, this one reads {FORMAT}); "
            "upgrade dbsp"
        )
    functions = tuple(Declared.from_json(each) for each in record["functions"])
    return Identity(record["program"], record["fingerprint"], record["text"], record["timezone"], functions)


def _refuse_older(path: Path) -> None:
    with disk(path):
        if path.exists() and path.read_bytes()[:100].lstrip().startswith(b'{\n "format": 1,'):
            raise StateError(
                f"{path.parent}: written by an older dbsp (format 1, without checksums); "
                "go on with that one, or take a new state directory"
            )


def refuse_foreign(root: Path) -> None:
    """Raises StateError for somebody else's file or directory."""
    if root.exists() and not root.is_dir():
        raise StateError(f"{root}: is a file; state needs a directory")
    if root.is_dir() and not (root / "program.json").exists():
        strange = sorted({entry.name for entry in os.scandir(root)} - _OURS)
        if strange:
            raise StateError(
                f"{root}: is no state directory (it holds '{strange[0]}' and no program.json); "
                "use an empty or a new directory"
            )


def of_another(root: Path, name: str, fingerprint: str, identity: Identity) -> StateError:
    """The directory is of another program."""
    return StateError(
        f"{root}: holds the state of '{name}' ({fingerprint[:12]}), which differs "
        f"from '{identity.name}' ({identity.fingerprint[:12]}); use another state directory, or "
        "delete this one to start from nothing"
    )
