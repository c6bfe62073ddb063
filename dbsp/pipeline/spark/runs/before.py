"""How a run's tables were read before. A program's fingerprint says nothing of it, so it may be another now.

The last record says whose the places of the checkpoint are. One of an older release doesn't: then the program
does that the state began with, if it had as many streams as there are places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from dbsp.circuits.errors import StateError
from dbsp.evolution.refusals import once_more
from dbsp.evolution.sources import reading_of, was_read
from dbsp.pipeline.spark.planned import entries_before, local_path, places_of_batch, planned_files
from dbsp.sql.plans.program import Program, Table
from dbsp.state.claim import owner
from dbsp.state.records.commits import Commit
from dbsp.state.records.manifest import Manifest
from dbsp.state.records.places import Place
from dbsp.state.records.reading import streams_of
from dbsp.targets.directories import path_of


def refuse_other_sources(root: Place, program: Program, last: Commit | None, checkpoint: Path) -> None:
    """Raises StateError where a run would read a source's rows once more, or not know whose a place is."""
    if last is None:
        return
    before = owner(root)
    manifest = before.manifest if before is not None else Manifest()
    streams, known = streams_of(program), reading_of(manifest, last).streams
    places = places_of_batch(checkpoint, last.batch) if last.batch is not None else None
    is_said = last.reading is not None or places in (None, len(known))
    for name in streams:
        if is_said and was_read(manifest, last, name):
            raise StateError(f"{root}: {once_more(name)}; leave it as it was, or give the table another name")
    if last.batch is None or [*streams.items()] == [*known.items()]:
        return
    if last.reading is None and places == len(streams):
        return
    for name in streams.keys() & known.keys():
        if streams[name] != known[name]:
            raise StateError(
                f"{root}: table '{name}' was read as {known[name]}, and is read as {streams[name]}; "
                "leave it as it was, or give the table another name"
            )
    said = f"{root}: read as streams were so far {_named([*known])}, and now {_named([*streams])}"
    if last.reading is None:
        raise StateError(f"{said}; leave USING as it was for a run, which writes down how tables are read")
    raise StateError(
        f"{said}; open it with --evolve (evolve=True), of which `dbsp plan` says more, or leave USING as it "
        "was"
    )


def other_paths(tables: Sequence[Table | None], last: Commit | None, checkpoint: Path) -> Iterator[str]:
    """Why it can't be run where a table's files are read from a path under which those before aren't: of what
    was moved there Spark knows nothing, and would read it once more.

    tables: by their places in the checkpoint; None: of a place that nobody reads from any more. What counts
    is where the newest files are that were read. Of a path on a store nothing is known.
    """
    if last is None or last.batch is None or places_of_batch(checkpoint, last.batch) is None:
        return
    for relation, table in enumerate(tables):
        if table is not None and table.is_file:
            path = path_of(table)
            for file in map(local_path, _newest(checkpoint, relation, last.batch)):
                if file is not None and path.startswith("/") and not _may_be_under(file, path):
                    yield (
                        f"table '{table.name}' was read from '{file}', which isn't one of '{path}': "
                        "files that were moved there would count once more; leave its path as it was, as by "
                        "a link, or a pattern that finds both, or give the table another name"
                    )
                    break


def _newest(checkpoint: Path, relation: int, batch: int) -> list[str]:
    """What the last batch took of a source, or else the last file of those before."""
    files = planned_files(checkpoint, relation, batch)
    return files or [entry["path"] for entry in islice(entries_before(checkpoint, relation, batch), 1)]


def _may_be_under(file: str, path: str) -> bool:
    """path: of a directory or a file; or a pattern, of which some are Spark's alone."""
    has, wanted = Path(file).parts, Path(path).parts
    is_plain = not {*path} & {*"\\{}"}
    return not is_plain or (len(has) >= len(wanted) and all(map(fnmatchcase, has, wanted)))


def _named(tables: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in tables) or "no tables"
