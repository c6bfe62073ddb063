"""What a step's micro-batch needs of Spark's checkpoint, and where it is kept.

    DIR/checkpoint[-N]/offsets/7         of a directory: as Spark has written it
    URI/checkpoint/offsets/7.<digest>    of a store: an object that is named by its content, too

A record has the names of the files, and a digest of each.
"""

from __future__ import annotations

from collections.abc import Mapping

import xxhash

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.commits import CHECKPOINT, Commit
from dbsp.state.records.places import Place


def digest_of(content: bytes) -> str:
    """By which a record knows a file."""
    return xxhash.xxh3_64_hexdigest(content)


def recorded(commit: Commit) -> Mapping[str, str]:
    """The digests that a record keeps of the checkpoint, by the names of files."""
    return commit.offsets if isinstance(commit.offsets, dict) else {}


def object_name(name: str, digest: str) -> str:
    """Of a file on a store, below its folder."""
    return f"{name}.{digest}"


def batch_file(root: Place, folder: str, name: str, digest: str) -> Place:
    """Where a file is. folder: of a directory; on a store all are in one."""
    if isinstance(root, ObjectPath):
        return root / CHECKPOINT / object_name(name, digest)
    return root / folder / name


def batch_object(root: ObjectPath, name: str, content: bytes) -> ObjectPath:
    """Where a file of that content is on a store."""
    return root / CHECKPOINT / object_name(name, digest_of(content))


def whole_file(path: Place, digest: str, root: Place, step: int) -> bytes:
    """The content of a file that a step's batch needs. root: of the state. Raises StateError unless it is as
    it was; of one that is missing its cause is a FileNotFoundError.
    """
    with disk(path):
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise _damaged(path, "is missing", root, step) from error
    if digest_of(content) != digest:
        raise _damaged(path, "isn't what it was when its batch was committed", root, step)
    return content


def _damaged(path: Place, problem: str, root: Place, step: int) -> StateError:
    file, state = ("object", "state") if isinstance(path, ObjectPath) else ("file", "state directory")
    return StateError(
        f"{path}: damaged: the {file} {problem}, so where the input of step {step} ended isn't known; "
        f"restore the {state} from a backup, or go back to a step that is whole: `dbsp fsck {root}` names it"
    )
