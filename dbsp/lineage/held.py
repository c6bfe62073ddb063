"""Rows that a state holds: of tables and of whatever else a trace is the integral of, by what is demanded.

A trace that lies by the demanded columns is looked up by its sort keys, O(log n) a value; another is searched
by one of them in Arrow, O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout, of_placement
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.relational import Demand, consolidated, matching
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema, arrow_schema
from dbsp.views.traces import Traces, arranged


@dataclass(frozen=True)
class Whole:
    """rows: all there are. is_left: a waterline may have let go of some."""

    rows: ZSet
    is_left: bool = False


@dataclass(frozen=True)
class Held:
    """What is there as of one step."""

    traces: Traces
    state: State
    segments: Segments

    def table(self, scan: Scan, demands: Sequence[Demand]) -> Whole | None:
        """The rows of a table that meet the demands; None: nothing holds them."""
        name, schema = scan.relation, scan.schema
        held = self._rows(self.traces.of_table(name, scan.arrival, scan.rowtime), schema, demands)
        if held is not None or scan.reads_arrival:
            return held
        parts = [self._rows(found, schema, demands) for found in self.traces.received(name)]
        there = [part for part in parts if part is not None]
        if not there or len(there) < len(parts):
            return None
        rows = ZSet.sum(arrow_schema(schema), [there[0].rows, *(-part.rows for part in there[1:])])
        return Whole(consolidated(rows, schema), any(part.is_left for part in there))

    def view(self, name: str, schema: Schema, demands: Sequence[Demand]) -> Whole | None:
        """The same of a view's rows, as they are kept."""
        kept = next((one.kept for one in self.traces.circuit.outputs if one.view == name), None)
        if kept is not None:
            return self._rows([(kept, [*range(len(schema))])], schema, demands)
        return self._rows(self.traces.of_table(name, arrival=False), schema, demands)

    def plan(self, plan: Plan, demands: Sequence[Demand]) -> Whole | None:
        """The same of a plan's rows."""
        return self._rows(self.traces.of_plan(plan), plan.schema, demands)

    def _rows(
        self, found: list[tuple[int, list[int]]], schema: Schema, demands: Sequence[Demand]
    ) -> Whole | None:
        there = [(trace, at) for trace, at in found if trace in self.state.spines]
        if not there:
            return None

        def worse(one: tuple[int, list[int]]) -> tuple[bool, bool, int]:
            trace, at = one
            spine, layout = self.state.spines[trace], self.traces.circuit.stored(trace)
            is_left = trace in self.traces.circuit.retentions
            return is_left, _placed(layout, trace in self.state.logs, at, demands) is None, spine.rows

        trace, at = min(there, key=worse)
        rows = self._read(trace, at, schema, demands)
        return Whole(matching(rows, schema, demands), trace in self.traces.circuit.retentions)

    def _read(self, trace: int, at: list[int], schema: Schema, demands: Sequence[Demand]) -> ZSet:
        """At least the rows that meet the demands."""
        circuit = self.traces.circuit
        layout, named = circuit.stored(trace), arrow_schema(schema)
        placed = _placed(layout, trace in self.state.logs, at, demands)
        parts = []
        for chunk in self.state.spines[trace].live:
            batch = open_chunk(circuit, trace, chunk, self.segments)
            if placed is not None:
                zset = _looked_up(batch, layout, placed, circuit.seed)
            else:
                zset = searched(batch.zset, at, demands)
            parts.append(arranged(zset, at, named))
        return consolidated(ZSet.sum(named, parts), schema)


def _plain(demand: Demand, at: Sequence[int]) -> dict[int, int]:
    """Per stored column that is demanded as it is: which of the values is its."""
    return {at[e.index]: i for i, e in enumerate(demand.expressions) if isinstance(e, Column)}


def _placed(
    layout: Layout, is_log: bool, at: list[int], demands: Sequence[Demand]
) -> list[pa.Array | None] | None:
    """Per stored column the values by which the trace can be looked up, if it can be."""
    if is_log or layout.timeline or not layout.placement:
        return None
    for demand in demands:
        plain = _plain(demand, at)
        if plain.keys() >= set(layout.placement):
            columns = demand.values.rows.columns
            return [columns[plain[i]] if i in plain else None for i in range(len(layout.schema))]
    return None


def _looked_up(batch: Batch, layout: Layout, placed: list[pa.Array | None], seed: int) -> ZSet:
    count = len(placed[layout.placement[0]])  # type: ignore[arg-type]
    if not count or not len(batch):
        return batch.zset.take(np.zeros(0, dtype=np.int64))
    hashes = np.unique(of_placement(layout.placed(placed, count, seed))[0])
    start, stop = SortedRun([batch]).ranges(*of_placement(hashes))
    lengths = stop - start
    positions = np.repeat(start - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    return batch.zset.take(positions)


def searched(rows: ZSet, at: Sequence[int], demands: Sequence[Demand]) -> ZSet:
    """At least the rows that meet the demands: by one column of each, whose equality Arrow knows.

    at: where each column that is demanded lies.
    """
    for demand in demands:
        for stored, value in _plain(demand, at).items():
            column, values = rows.rows.column(stored), demand.values.rows.column(value)
            if pt.is_nested(column.type) or pt.is_floating(column.type) or pt.is_null(column.type):
                continue
            there = pc.is_in(column, value_set=values.unique())
            rows = rows.take(np.flatnonzero(there.to_numpy(zero_copy_only=False)))
            break
    return rows
