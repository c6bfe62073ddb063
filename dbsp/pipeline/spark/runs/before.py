"""How a run's tables were read before. A program's fingerprint says nothing of it, so it may be another now.

The checkpoint has a place for each stream, and program.json says what they were when it was written. Since
then others may have been run: then the number of places says so.
"""

from __future__ import annotations

from pathlib import Path

from dbsp.circuits.errors import StateError
from dbsp.evolution.sources import streams_before, streams_of, was_compared
from dbsp.pipeline.spark.planned import places_of_batch
from dbsp.sql.plans.program import Program
from dbsp.state.claim import owner
from dbsp.state.records.commits import Commit
from dbsp.state.records.places import Place


def refuse_other_sources(
    root: Place, program: Program, last: Commit | None, checkpoint: Path, by_feeds: bool
) -> None:
    """Raises StateError where a run would read a source's rows once more, or not know whose a place is.

    by_feeds: and by no query of Spark's, which takes as many places as there are.
    """
    if last is None:
        return
    streams, before = streams_of(program), owner(root)
    places = places_of_batch(checkpoint, last.batch) if last.batch is not None else None
    if before is not None and places in (None, len(streams_before(before.manifest))):
        for name in streams:
            if was_compared(before.manifest, last, name):
                raise StateError(
                    f"{root}: table '{name}' was compared with its source so far, and as a stream would read "
                    "it once more; leave it WITH (snapshot = ...), or give the table another name"
                )
    if places is not None and (places < len(streams) if by_feeds else places != len(streams)):
        raise StateError(
            f"{root}: {_sources(places)} read as streams so far, and now {_are(streams)}: USING can't come "
            "or go alone; leave it as it was, or change a view as well, with --evolve (evolve=True)"
        )


def _sources(count: int) -> str:
    return "1 table was" if count == 1 else f"{count} tables were"


def _are(names: list[str]) -> str:
    return f"{len(names)} {'is' if len(names) == 1 else 'are'} ({', '.join(names)})"
