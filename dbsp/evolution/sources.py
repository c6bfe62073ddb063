"""Tables with a source that come, go, or change places: Spark's checkpoint knows sources by their places.

A changed program gets a checkpoint of its own, DIR/checkpoint-N, N being the step that changes it: that of
the program before, with each source's files in its new place. `offsets/B` has a line for each source, or '-'
for one of which nothing has been read. It is written before the step's record, which refers to it by name and
by digests; until then nothing does. On a store files are known by their content, too, and all in one folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.spine import Spine
from dbsp.evolution.known import rows_of
from dbsp.state.records.batch_files import batch_file, batch_object, digest_of, recorded, whole_file
from dbsp.state.records.commits import CHECKPOINT, Commit, sync, write_whole
from dbsp.state.records.manifest import Manifest
from dbsp.state.records.places import Place
from dbsp.state.records.reading import Reading

# the version, and what Spark says of the batch
_HEAD = 2
_NOTHING = "-"


def reading_of(manifest: Manifest, last: Commit) -> Reading:
    """How the tables were read so far; of an older record what the program says that the state began with."""
    if last.reading is not None:
        return last.reading
    compared = {name for name, table in manifest.tables.items() if table.source and table.snapshot}
    return Reading(manifest.streams, frozenset(compared))


def was_read(manifest: Manifest, last: Commit, name: str) -> bool:
    """Whether a table got rows of its source otherwise than as the stream that it may be: that would bring
    them once more.
    """
    reading, table = reading_of(manifest, last), manifest.tables.get(name)
    if name in reading.left:
        return True
    # the record before the first that says how tables are read didn't say that it was compared
    is_compared = table is not None and bool(table.source) and table.snapshot and name not in reading.streams
    if table is None or not (name in reading.compared or is_compared):
        return False
    rows, spines = rows_of(name, manifest), cast(Mapping[str, Any], last.state["spines"])
    traces = [trace for trace, held in manifest.traces.items() if held.rows == rows and trace in spines]
    return not traces or any(Spine.from_json(spines[trace]).rows for trace in traces)


def moved(
    root: Place, last: Commit, before: Sequence[str], now: Sequence[str], step: int, durable: bool
) -> tuple[str, object]:
    """(the folder of the checkpoint, digests of its files) for a change at a step. Raises StateError."""
    if last.batch is None or list(before) == list(now):
        return last.checkpoint, last.offsets
    folder = f"{CHECKPOINT}-{step}"
    # it gets new digests, which would say of any content that it is right
    files = {
        name: whole_file(batch_file(root, last.checkpoint, name, digest), digest, root, last.step)
        for name, digest in recorded(last).items()
    }
    try:
        made = rearranged(files, before, now)
    except ValueError as error:
        raise StateError(
            f"{root / last.checkpoint}: {error}, so what was read of each source isn't known; leave the "
            "tables with a source as they were, or take a new state directory"
        ) from None
    with disk(root / folder):
        if isinstance(root, Path):
            _write(root, folder, made, durable)
        else:
            for name, content in made.items():
                batch_object(root, name, content).put(content)
    return folder, {name: digest_of(content) for name, content in made.items()}


def _write(root: Path, folder: str, files: Mapping[str, bytes], durable: bool) -> None:
    """Raises OSError."""
    rmtree(root / folder, ignore_errors=True)
    for name, content in files.items():
        path = root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content, durable)
    if durable:
        for path in (root / folder).rglob("*"):
            if path.is_dir():
                sync(path)
        sync(root / folder)
        sync(root)


def rearranged(files: Mapping[str, bytes], before: Sequence[str], now: Sequence[str]) -> dict[str, bytes]:
    """The files of a checkpoint whose sources have other places. Raises ValueError for what isn't known."""
    places = {str(before.index(name)): str(i) for i, name in enumerate(now) if name in before}
    found: dict[str, bytes] = {}
    for name, content in files.items():
        folder, _, rest = name.partition("/")
        if folder == "offsets":
            found[name] = _offsets(name, content.decode(), before, now).encode()
        elif folder == "sources":
            place, _, file = rest.partition("/")
            if place in places:
                found[f"sources/{places[place]}/{file}"] = content
        else:
            found[name] = content
    return found


def _offsets(name: str, content: str, before: Sequence[str], now: Sequence[str]) -> str:
    lines = content.splitlines()
    version, known = lines[0], lines[_HEAD:]
    if version != "v1":
        raise ValueError(f"{name} is of version {version}")
    if len(known) != len(before):
        raise ValueError(f"{name} has {len(known)} sources, and the program had {len(before)}")
    offsets = dict(zip(before, known, strict=True))
    return "\n".join([*lines[:_HEAD], *(offsets.get(each, _NOTHING) for each in now)])
