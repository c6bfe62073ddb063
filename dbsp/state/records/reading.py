"""How a state's tables have been read so far, as each step's record has it.

A program's fingerprint says nothing of USING, and the checkpoint knows a stream by its place alone. So whose
place it is, and whose source has given rows in another way, is written with the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbsp.sql.plans.program import Program


@dataclass(frozen=True)
class Reading:
    """streams: by table the format of its source, in the order of the checkpoint's places.

    compared: tables whose source was compared. left: those that were streams. As a stream again either brings
    its rows once more.
    """

    streams: Mapping[str, str] = field(default_factory=dict)
    compared: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()

    def goes_on(self, program: Program, has_streams: bool) -> Reading:
        """After a step of a program. has_streams: the checkpoint has its streams' places."""
        compared = {name for name, table in program.inputs.items() if table.is_snapshot}
        streams = streams_of(program) if has_streams else self.streams
        left = (self.left | self.streams.keys()) - streams.keys()
        compared |= self.compared - streams.keys()
        tables = program.inputs.keys()
        return Reading(streams, frozenset(compared & tables), frozenset(left & tables))

    def to_json(self) -> dict[str, object]:
        kinds = {"compared": sorted(self.compared), "left": sorted(self.left)}
        return {"streams": [*self.streams.items()], **kinds}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Reading:
        return Reading(dict(record["streams"]), frozenset(record["compared"]), frozenset(record["left"]))


def streams_of(program: Program) -> dict[str, str]:
    """The tables that a program reads as streams, in the order of their places, with their formats."""
    return {
        name: table.format.lower()
        for name, table in program.inputs.items()
        if table.format is not None and not table.is_snapshot
    }
