"""EMIT: keys fire at instants relative to the end of their window, on the clock of the largest event time."""

from __future__ import annotations

from dbsp.circuits.expressions.monotone import Bound, bound_of
from dbsp.circuits.expressions.nodes import Column, columns_of
from dbsp.circuits.operators.emission.timers import Timers, Timetable
from dbsp.circuits.operators.emission.trigger import Schedule, Trigger
from dbsp.circuits.operators.inputs.thresholds import Proved, Threshold
from dbsp.circuits.operators.streams import Broadcast
from dbsp.circuits.progress.limits import Limit
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.circuits.progress.waterline import Lateness, largest_name
from dbsp.sql.lowering.emission.event_times import event_time
from dbsp.sql.lowering.emission.keyed import Keyed
from dbsp.sql.lowering.emission.window_ends import window_end
from dbsp.sql.plans import program


def lower_schedule(keyed: Keyed, given: program.Schedule) -> tuple[Trigger, tuple[Limit, ...]]:
    """(the trigger, what no emission follows)."""
    lowering, builder = keyed.lowering, keyed.lowering.builder
    end = window_end(keyed, given.location)
    relation, column = event_time(keyed, end, given.location)
    schema = builder.nodes[lowering.relation(relation)].schema
    data_type, name = schema.field(column).type, f"{relation}.{schema.names[column]}"
    largest = Lateness(largest_name(name), column, data_type, 0)
    freed = Lateness(largest_name(name, keyed.view.name), column, data_type, given.last)
    for one in (largest, freed):
        if one not in builder.lateness:
            builder.lateness.append(one)
    proved = builder.add(Proved((largest, freed)), lowering.relation(relation))
    keyed.proofs.append(builder.add(Broadcast(), proved))
    threshold = Threshold((largest,), (Column(0, data_type),), at_once=True)
    table = Timetable(end.over_key, given.first, given.every, given.complete, given.last)
    keyed.add_agenda(Timers(keyed.places, table, threshold, again=True))
    schedule = Schedule(table, threshold, given.rows, given.late, given.flagged)
    limits: tuple[Limit, ...] = ()
    bound = bound_of(end.made, all_bounds(builder.build())[end.node])
    if bound is not None and _none_after(builder.lateness, bound, name, given.last):
        last = Column(builder.lateness.index(freed), data_type)
        limits = (Limit(keyed.over_view(end.over_key), (*bound, last)),)
    return Trigger(keyed.key, 1, schedule=schedule), limits


def _none_after(lateness: list[Lateness], bound: Bound, name: str, last: int) -> bool:
    """Whether what comes after the last result is late for the waterline, so that nothing does."""
    waterlines = {lateness[column] for e in bound for column in columns_of(e)}
    return all(one.name == name and one.percentile is None and one.amount <= last for one in waterlines)
