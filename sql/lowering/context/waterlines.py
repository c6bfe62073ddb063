"""Lowering of LATENESS and WATERMARK: what leaves out late rows, what waits, what raises the waterlines."""

from __future__ import annotations

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.inputs.event_times import EventTimes, LastEventTimes
from dbsp.circuits.operators.inputs.late import LATE_SCHEMA, Frozen, Late, OnTime
from dbsp.circuits.operators.inputs.thresholds import Proved
from dbsp.circuits.operators.linear import Union
from dbsp.circuits.progress.waterline import CLOCK, Lateness, waterline_name, watermark_name
from dbsp.sql.plans.program import Table, View


class Waterlines:
    """The waterlines of a circuit in the making, and the nodes that know of them."""

    def __init__(self, builder: CircuitBuilder) -> None:
        self.builder = builder
        # per waterline, the node whose rows move it and the lateness of that relation; the node of candidates
        self._moved_by: dict[str, tuple[int, tuple[Lateness, ...]]] = {}
        self._percentiles: dict[str, int] = {}
        self._late: list[int] = []

    def declared(self, of: Table | View) -> tuple[Lateness, ...]:
        """The relation's waterlines, which become the circuit's."""
        lateness = tuple(
            Lateness(
                waterline_name(of.name, of.schema[one.column].name, one.decreasing),
                one.column,
                of.schema[one.column].type,
                one.amount,
                one.jump,
                one.percentile,
                one.decreasing,
            )
            for one in of.lateness
        )
        self.builder.lateness.extend(lateness)
        return lateness

    def watch_clock(self) -> None:
        """The circuit has the step clock among its waterlines."""
        if CLOCK not in self.builder.lateness:
            self.builder.lateness.append(CLOCK)

    def follow_event_times(self, source: int, lateness: tuple[Lateness, ...]) -> None:
        """What raises the percentile waterlines of a table."""
        for i, one in enumerate(lateness):
            if one.percentile is not None:
                times = self.builder.add(EventTimes(lateness, i), source)
                last = LastEventTimes(one)
                placed = self.builder.placed(times, ())
                self._percentiles[one.name] = self.builder.add(last, placed, name=one.name)

    def on_time(self, node: int, of: Table | View, lateness: tuple[Lateness, ...]) -> int:
        """The rows of a node that aren't late; those that are go to `late_rows`."""
        if not lateness:
            return node
        self._moved_by.update({one.name: (node, lateness) for one in lateness})
        names = tuple(field.name for field in of.schema)
        on_time = self.builder.add(OnTime(of.name, lateness), node, name=of.name)
        self._late.append(self.builder.add(Late(of.name, lateness, names), node, on_time))
        return on_time

    def watermarks(self, of: Table, on_time: int) -> tuple[Lateness, ...]:
        """The table's watermarks, which are raised by each of its rows that is on time."""
        declared = tuple(
            Lateness(
                watermark_name(of.name, of.schema[one.column].name),
                one.column,
                of.schema[one.column].type,
                one.amount,
            )
            for one in of.watermarks
        )
        self.builder.lateness.extend(declared)
        self._moved_by.update({one.name: (on_time, (one,)) for one in declared})
        return declared

    def frozen(
        self, name: str, key: tuple[int, ...], lateness: tuple[Lateness, ...], changes: int, table: int
    ) -> None:
        """Changes of a keyed table whose present row is below a waterline are late too."""
        if lateness:
            self._late.append(self.builder.add(Frozen(name, key, lateness), changes, table))

    def late_rows(self) -> int:
        """The node of what came too late, of all relations so far."""
        return self.builder.add(Union(LATE_SCHEMA), *self._late)

    def proved(self, one: Lateness) -> int:
        """The node of what a step's rows prove of a waterline."""
        if one.percentile is not None:
            return self._percentiles[one.name]
        source, lateness = self._moved_by[one.name]
        return self.builder.add(Proved(lateness), source)
