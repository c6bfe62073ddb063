"""Which micro-batch of which streaming query a step is, or which request: each is committed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbsp.circuits.errors import StateError
from dbsp.sql.plans.program import Program
from dbsp.state.records.commits import Commit
from dbsp.state.records.reading import Reading

REQUESTS = 100


@dataclass(frozen=True)
class MicroBatch:
    """number: None: the step is of no micro-batch. offsets: of the sources, as they give them.

    request: the key under which a client asked for the step; empty: none.
    """

    stream: str = ""
    number: int | None = None
    offsets: object = None
    request: str = ""

    def or_last(self, last: Commit | None) -> MicroBatch:
        """What the step's commit says: for a step from the API, the last micro-batch before it."""
        if self.number is None and last is not None:
            return replace(self, stream=last.stream, number=last.batch, offsets=last.offsets)
        return self

    def reading(self, program: Program, last: Commit | None) -> Reading | None:
        """What the commit says of how the tables were read. self: given by `or_last`."""
        has_streams = self.number is not None and self.number != (last.batch if last is not None else None)
        before = last.reading if last is not None else Reading()
        if before is None and not has_streams:
            return None
        return (before or Reading()).goes_on(program, has_streams)

    def requests(self, last: Commit | None, step: int) -> Mapping[str, int]:
        """What the commit of the step says of the REQUESTS last that had a key."""
        before = dict(last.requests) if last is not None else {}
        if self.request:
            before[self.request] = step
        return dict([*before.items()][-REQUESTS:])


def is_committed(root: object, last: Commit | None, stream: str, batch: int) -> bool:
    """Whether the micro-batch is in the state already.

    Raises StateError where it can't follow what the state holds.
    """
    if last is None or last.batch is None:
        return False
    if last.stream != stream:
        raise StateError(
            f"{root}: was fed by another streaming query ({last.stream}, not {stream}); "
            "use the checkpoint it was made with, or a new state directory"
        )
    if batch > last.batch + 1:
        raise StateError(
            f"{root}: is behind its checkpoint (batch {last.batch} is here, {batch} comes "
            "next); restore both from the same moment"
        )
    return batch <= last.batch
