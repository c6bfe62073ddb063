"""Sources that have no rows for a time: their waterlines follow those of others, which they held back.

    W_c := max(W_c, min W_d)    c: a time with LATENESS of a source that is idle
                                d: such times, of the same type, of all that isn't and that some view reads
                                   beside it

What isn't idle and has no waterline yet holds back, and where all are idle nothing moves: there is no clock
in it. Rows of an idle source that come after all, and lie below, are late. The move is an input of a step as
ADVANCE is, and recorded with it: who goes on from that step needn't know how long anything was silent.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.progress.waterline import Waterlines, from_json, later
from dbsp.pipeline.spark.fed import Fed
from dbsp.sql.plans.program import SYSTEM_VIEWS, Table

log = logging.getLogger("dbsp")


@dataclass
class Idle:
    """Of a run. tables: its sources."""

    pipeline: Fed
    tables: Sequence[Table]
    began: float = field(default_factory=time.monotonic)
    _seen: dict[str, float] = field(default_factory=dict)

    def saw(self, table: Table) -> None:
        """It had rows."""
        self._seen[table.name] = time.monotonic()

    def advance(self) -> bool:
        """Queue where idle sources are to be, whether there is anything."""
        moves = self.moves()
        for (table, column), value in moves.items():
            log.info("table '%s' is idle: ADVANCE %s.%s TO '%s'", table, table, column, value)
            self.pipeline.advance(table, column, value.as_py())
        return bool(moves)

    def moves(self) -> dict[tuple[str, str], pa.Scalar]:
        """Where which columns are to be, by the waterlines of the last step."""
        idle, last = self._idle(time.monotonic()), self.pipeline.store.last
        if not idle or last is None:
            return {}
        types = {one.name: one.type for one in self.pipeline.program.circuit.lateness}
        waterlines = from_json(last.waterlines, types)
        found = {}
        for table in idle.values():
            for column in _times(table):
                target = self._others(table, column, idle, waterlines)
                name = f"{table.name}.{column}"
                if target is not None and later(waterlines.get(name), target) is not waterlines.get(name):
                    found[table.name, column] = target
        return found

    def _idle(self, now: float) -> Mapping[str, Table]:
        return {
            table.name: table
            for table in self.tables
            if table.idle_timeout and now - self._seen.get(table.name, self.began) >= table.idle_timeout / 1e6
        }

    def _others(
        self, table: Table, column: str, idle: Mapping[str, Table], waterlines: Waterlines
    ) -> pa.Scalar | None:
        """The least waterline of those that aren't idle; None: there is none, or one is unset."""
        own = {field.name: field.type for field in table.schema}[column]
        values = [
            waterlines.get(f"{other.name}.{theirs}")
            for other in self.pipeline.program.inputs.values()
            if other.name not in idle and self._beside(table, other)
            for theirs, data_type in _times(other).items()
            if data_type == own
        ]
        least: pa.Scalar | None = None
        for value in values:
            if value is None:
                return None
            if least is None or pc.less(value, least).as_py():
                least = value
        return least

    def _beside(self, one: Table, other: Table) -> bool:
        """Whether some view reads both."""
        circuit = self.pipeline.program.circuit
        views = [{*circuit.views_of(circuit.sources[table.name])} for table in (one, other)]
        return bool((views[0] & views[1]) - SYSTEM_VIEWS)


def _times(table: Table) -> dict[str, pa.DataType]:
    """Its times with LATENESS that don't decrease, by name."""
    columns = [table.schema[one.column] for one in table.lateness if not one.decreasing]
    return {column.name: column.type for column in columns if pt.is_temporal(column.type)}
