"""Lowering of TRIGGER and EMIT: from a view's trace to what leaves, and when.

    records ─► agendas ─► trigger ─► emit ─► out         the trigger and emit read the view's trace

The records of an aggregation, and of DISTINCT, are those of its input, counted by group; of any other view,
its changed rows. All is placed by the view's stream key, or by the whole row where it has none.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_bits
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.monotone import Bound, bound_of, floored, is_fixed_zone
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of, remap, substitute
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.emission.records import Records
from dbsp.circuits.operators.emission.timers import After, At, Timers, Timetable
from dbsp.circuits.operators.emission.trigger import Passed, Schedule, Trigger
from dbsp.circuits.operators.inputs.thresholds import Proved, Threshold
from dbsp.circuits.operators.linear import Filter, Map
from dbsp.circuits.operators.streams import Broadcast, Exchange, Integrate
from dbsp.circuits.progress.limits import Limit
from dbsp.circuits.progress.proofs import lineage
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.circuits.progress.waterline import CLOCK, Lateness
from dbsp.sql.lowering.context import Lowering
from dbsp.sql.plans import plan as p
from dbsp.sql.plans import program
from dbsp.sql.plans.program import View
from dbsp.sql.plans.properties.keys import Key
from dbsp.sql.plans.schemas import Field

Watched = tuple[Expression, Bound]


def lower_emission(lowering: Lowering, view: View, node: int, key: Key) -> tuple[int, int]:
    """(the view's trace, the node of its emissions)."""
    return _Emitting(lowering, view, node, key).lower()


@dataclass
class _Emitting:
    lowering: Lowering
    view: View
    node: int
    stream_key: Key

    def lower(self) -> tuple[int, int]:
        self.builder = self.lowering.builder
        ordered = self._ordered_by()
        if self.stream_key is not None and not set(columns_of(ordered) if ordered else ()) <= {
            *self.stream_key
        }:
            self.stream_key = None  # what is waited for must be in the key
        self.key = tuple(range(len(self.view.schema))) if self.stream_key is None else self.stream_key
        self.trace = self.builder.add(Integrate(self.key), self.builder.placed(self.node, self.key))
        self.places = tuple(range(len(self.key)))
        self.records = self._records()
        self.agendas: list[int] = []
        self.proofs: list[int] = []
        given = self.view.emission
        if isinstance(given, program.Triggers):
            trigger, limits = self._triggers(given)
        else:
            assert given is not None
            trigger, limits = self._schedule(given)
        fired = self.builder.add(trigger, self.records, self.trace, *self.agendas, *self.proofs)
        emits = Emit(self.key, trigger.schedule, limits, self.view.name if self.view.emits_once else "")
        emit = self.builder.add(emits, fired, self.trace, name=self.view.name)
        return self.trace, emit

    def _ordered_by(self) -> Expression | None:
        """What a stream's rows leave in the order of."""
        given = self.view.emission
        return given.by if isinstance(given, program.Ordered) else None

    # -- records ---------------------------------------------------------------------------------------

    def _records(self) -> int:
        columns = tuple(Column(i, self.view.schema[i].type, self.view.schema[i].nullable) for i in self.key)
        grouped = None if self.stream_key is None else aggregated(self.view.plan, columns)
        if grouped is not None:
            source, keys = self.lowering.plan(grouped[0]), grouped[1]
        else:
            source, keys = self.trace, columns
        if not keys:  # one key, but rows need a column
            keys = (Literal(True, pa.bool_()),)
        names = [self.view.schema[i].name for i in self.key] or ["everything"]
        schema = tuple(Field(name, e.type, e.nullable) for name, e in zip(names, keys, strict=True))
        counted = self.builder.add(Records(), self.lowering.map(source, keys, schema))
        return self.builder.placed(counted, self.places)

    # -- triggers --------------------------------------------------------------------------------------

    def _triggers(self, given: program.Triggers) -> tuple[Trigger, tuple[Limit, ...]]:
        watched = self._watched(given) if given.waterline else []
        thresholds = [self._threshold(bound) for _, bound in watched]
        if given.delay is not None:
            self.lowering.watch_clock()
            clock = Threshold((CLOCK,), (Column(0, CLOCK.type),), at_once=True)
            self.agendas.append(self._agenda(Timers(self.places, After(given.delay), clock)))
        passed = []
        for (value, _), threshold in zip(watched, thresholds, strict=True):
            self.agendas.append(self._agenda(Timers(self.places, At(value), threshold)))
            passed.append(Passed(value, threshold))
        limits = tuple(Limit(self._of_view(value), bound) for value, bound in watched)
        trigger = Trigger(self.key, len(self.agendas), given.counting, given.delay, tuple(passed))
        return trigger, limits

    def _watched(self, given: program.Triggers) -> list[Watched]:
        """The key's columns, or fields of one, that a waterline bounds; one for each waterline."""
        found: list[Watched] = []
        seen: set[int] = set()
        for value, bound in self._bounded():
            waterlines = {column for e in bound for column in columns_of(e)}
            if not waterlines <= seen:
                seen |= waterlines
                found.append((value, bound))
        if not found:
            names = ", ".join(self.view.schema[i].name for i in self.key) or "none: it is one row"
            why = f"no waterline bounds a column of its stream key ({names})"
            cure = (
                "give the time it is grouped by a LATENESS, and select that group (window, window.end or a "
            )
            if given.once:
                never = f"no row of the stream '{self.view.name}' is ever final"
                raise ProgramError(
                    f"{given.location}: {never}: {why}; {cure}truncated time), or leave STREAM out"
                )
            never = f"ON WATERMARK never fires for view '{self.view.name}'"
            cure += "truncated time), or use COUNTING or AFTER DELAY"
            raise ProgramError(f"{given.location}: {never}: {why}; {cure}")
        return found

    def _bounded(self) -> list[Watched]:
        """Each bounded value of the key, over its columns; of an ordered stream what it is ordered by."""
        circuit = self.builder.build()
        bounds = all_bounds(circuit)
        found = []
        values, ordered = self._values(), self._ordered_by()
        if ordered is not None:  # a row that is final before waits for its turn
            position = {column: i for i, column in enumerate(self.key)}
            values = [(remap(ordered, position), ordered, self.node)]
        for value, made, at in values:
            bound = bound_of(made, bounds[at])
            if bound is not None and (has_order_bits(value.type) or pt.is_decimal(value.type)):
                found.append((value, bound))
        return found

    def _values(self) -> list[tuple[Expression, Expression, int]]:
        """The key's columns and the fields of its structs: (over the key, over a node, that node)."""
        found: list[tuple[Expression, Expression, int]] = []
        for position, i in enumerate(self.key):
            column = self.view.schema[i]
            over_key = Column(position, column.type, column.nullable)
            found.append((over_key, Column(i, column.type, column.nullable), self.node))
            at = self._maker(self.node)
            operator = self.builder.nodes[at].operator
            made = operator.expressions[i] if isinstance(operator, Map) else None
            if isinstance(made, Call) and made.function == "create_named_struct":
                (below,) = self.builder.nodes[at].inputs
                for field, argument in enumerate(made.arguments[1::2]):
                    options = (("ordinal", field),)
                    part = Call("get_struct_field", (over_key,), argument.type, True, options)
                    found.append((part, argument, below))
        return found

    def _maker(self, at: int) -> int:
        """The node that makes the rows of another, which only chooses among them."""
        while isinstance(self.builder.nodes[at].operator, Filter | Exchange | Integrate | Distinct):
            (at,) = self.builder.nodes[at].inputs
        return at

    # -- schedules -------------------------------------------------------------------------------------

    def _schedule(self, given: program.Schedule) -> tuple[Trigger, tuple[Limit, ...]]:
        end, made, at = self._window_end(given)
        relation, column = self._event_time(made, at, given)
        data_type = self.builder.nodes[self.lowering.relation(relation)].schema.field(column).type
        name = f"{relation}.{self.builder.nodes[self.lowering.relation(relation)].schema.names[column]}"
        largest = Lateness(f"{name} (largest)", column, data_type, 0)
        freed = Lateness(f"{name} (last result of {self.view.name})", column, data_type, given.last)
        for one in (largest, freed):
            if one not in self.builder.lateness:
                self.builder.lateness.append(one)
        proved = self.builder.add(Proved((largest, freed)), self.lowering.relation(relation))
        self.proofs.append(self.builder.add(Broadcast(), proved))
        threshold = Threshold((largest,), (Column(0, data_type),), at_once=True)
        table = Timetable(end, given.first, given.every, given.complete, given.last)
        self.agendas.append(self._agenda(Timers(self.places, table, threshold, again=True)))
        schedule = Schedule(table, threshold, given.rows, given.late, given.flagged)
        limits: tuple[Limit, ...] = ()
        bound = bound_of(made, all_bounds(self.builder.build())[at])
        if bound is not None and self._none_after(bound, name, given.last):
            last = Column(self.builder.lateness.index(freed), data_type)
            limits = (Limit(self._of_view(end), (*bound, last)),)
        return Trigger(self.key, 1, schedule=schedule), limits

    def _none_after(self, bound: Bound, name: str, last: int) -> bool:
        """Whether what comes after the last result is late for the waterline, so that nothing does."""
        waterlines = {self.builder.lateness[column] for e in bound for column in columns_of(e)}
        return all(one.name == name and one.percentile is None and one.amount <= last for one in waterlines)

    def _window_end(self, given: program.Schedule) -> tuple[Expression, Expression, int]:
        """The key's window end: (over the key, over a node, that node)."""
        times = [value for value in self._values() if pt.is_timestamp(value[0].type)]
        for value in times:
            if self._is_end(*value):
                return value
        for start, made, at in times:
            length = self._length(start)
            if length is not None:
                return _later(start, length), _later(made, length), at
        names = ", ".join(self.view.schema[i].name for i in self.key) or "none: it is one row"
        raise ProgramError(
            f"{given.location}: EMIT needs the end of a window in the stream key of view '{self.view.name}' "
            f"({names}); group by window(ts, '10 minutes') and select it, or its end AS window_end"
        )

    def _is_end(self, value: Expression, made: Expression, at: int) -> bool:
        """A window's field `end`; a column of such a name; or a start plus the length."""
        if isinstance(value, Call):
            struct = value.arguments[0].type
            return bool(struct.field(dict(value.options)["ordinal"]).name == "end")
        assert isinstance(value, Column)
        name = self.view.schema[self.key[value.index]].name.lower()
        if name in ("end", "wend") or name.endswith(("_end", "windowend")):
            return True
        operator = self.builder.nodes[self._maker(at)].operator
        if isinstance(made, Column) and isinstance(operator, Map):
            made = operator.expressions[made.index]
        sum_ = made.arguments[0] if isinstance(made, Call) and made.arguments else None
        return (
            isinstance(made, Call)
            and made.function == "precise_timestamp_conversion"
            and isinstance(sum_, Call)
            and sum_.function == "add"
            and isinstance(sum_.arguments[1], Literal)
        )

    def _length(self, start: Expression) -> int | None:
        """Microseconds of the window whose start a column of the key is; None: it is none."""
        if not isinstance(start, Column):
            return None
        i = self.key[start.index]
        grouped = aggregated(self.view.plan, (Column(i, start.type, start.nullable),))
        return None if grouped is None else window_length(grouped[0], grouped[1][0])

    def _event_time(self, made: Expression, at: int, given: program.Schedule) -> tuple[str, int]:
        """(table, position of its column) that the window is made of."""
        circuit = self.builder.build()
        columns = set(columns_of(made))
        origin = lineage.origin(circuit, at, columns.pop()) if len(columns) == 1 else None
        if origin is not None:
            table = self.lowering.relation(origin[0])
            column = self.builder.nodes[table].schema.get_field_index(origin[1])
            if column >= 0 and pt.is_timestamp(self.builder.nodes[table].schema.field(column).type):
                return origin[0], column
        raise ProgramError(
            f"{given.location}: EMIT needs an event time for view '{self.view.name}': a TIMESTAMP column of "
            "one table that the window is made of"
        )

    # -- parts -----------------------------------------------------------------------------------------

    def _agenda(self, operator: Timers) -> int:
        return self.builder.add(operator, self.records, *self.proofs)

    def _threshold(self, bound: Bound) -> Threshold:
        """The bound, over the waterlines that it needs; what proves them is added to the inputs."""
        columns = sorted({column for e in bound for column in columns_of(e)})
        lateness = tuple(self.builder.lateness[column] for column in columns)
        for one in lateness:
            if one == CLOCK:
                continue  # what every task knows anyway
            proof = self.builder.add(Broadcast(), self.lowering.proved(one))
            if proof not in self.proofs:
                self.proofs.append(proof)
        at = {column: i for i, column in enumerate(columns)}
        return Threshold(lateness, tuple(remap(e, at) for e in bound))

    def _of_view(self, value: Expression) -> Expression:
        """A value of the key, over the view's columns."""
        return remap(value, dict(enumerate(self.key)))


def _later(time: Expression, length: int) -> Expression:
    """A time that many microseconds later, as Catalyst writes a window's end."""
    number = Call("precise_timestamp_conversion", (time,), pa.int64(), time.nullable)
    ansi = (("evalMode", "ANSI"),)
    sum_ = Call("add", (number, Literal(length, pa.int64())), pa.int64(), time.nullable, ansi)
    return Call("precise_timestamp_conversion", (sum_,), time.type, time.nullable)


def window_length(plan: p.Plan, start: Expression, filtered: bool = False) -> int | None:
    """Microseconds of the windows that `start`, over a plan's columns, is the start of; None: of none.

    filtered: the plan's rows are, as those of hopping windows whose length is no multiple of their distance.
    """
    match plan:
        case p.Filter():
            return window_length(plan.input, start, filtered=True)
        case p.Project():
            return window_length(plan.input, _over(plan.expressions, start), filtered)
        case p.Expand():
            return None if filtered else _hopping_length([_over(row, start) for row in plan.projections])
    if isinstance(start, Call) and start.function == "trunc_timestamp":
        return _unit_length(start)
    aligned = _micros(start)
    return None if aligned is None else _distance(aligned)


def _over(columns: tuple[Expression, ...], expression: Expression) -> Expression:
    return substitute(expression, lambda column: columns[column.index])


def _micros(start: Expression) -> Call | None:
    """The number that a window's start is made of."""
    made = start.arguments[0] if isinstance(start, Call) and start.arguments else None
    return made if isinstance(made, Call) else None


def _distance(aligned: Call) -> int | None:
    """Between the starts of the windows that a number is aligned to."""
    if floored(aligned) is None:
        return None
    remainder = aligned.arguments[1]
    assert isinstance(remainder, Call)
    length = remainder.arguments[1]
    assert isinstance(length, Literal) and isinstance(length.value, int)
    return length.value


def _hopping_length(starts: list[Expression]) -> int | None:
    """Of windows that start at an aligned time, and so many distances before it."""
    distances, before = set(), []
    for start in starts:
        made, back = _micros(start), 0
        if made is not None and floored(made) is None and made.function == "subtract":
            made, by = made.arguments  # type: ignore[assignment]
            back = by.value if isinstance(by, Literal) and isinstance(by.value, int) else -1
        distances.add(_distance(made) if isinstance(made, Call) else None)
        before.append(back)
    distance = distances.pop() if len(distances) == 1 else None
    if distance is None or sorted(before) != [i * distance for i in range(len(starts))]:
        return None
    return distance * len(starts)


_UNITS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "DD": 86_400, "WEEK": 604_800}


def _unit_length(truncated: Call) -> int | None:
    """Of the unit that a time is truncated to, if all of them are equally long."""
    unit = truncated.arguments[0]
    if not isinstance(unit, Literal) or not is_fixed_zone(truncated):
        return None
    seconds = _UNITS.get(str(unit.value).upper())
    return None if seconds is None else seconds * 1_000_000


def aggregated(plan: p.Plan, key: tuple[Expression, ...]) -> tuple[p.Plan, tuple[Expression, ...]] | None:
    """The input of the aggregation or DISTINCT that a plan is, with the key over it; None: it is none.

    key: over the plan's columns. Nothing stands above the aggregation but projections and filters. GROUP BY
    without an aggregate is a DISTINCT of its keys.
    """
    match plan:
        case p.Filter():
            return aggregated(plan.input, key)
        case p.Project():
            expressions = plan.expressions
            return aggregated(plan.input, tuple(substitute(e, lambda c: expressions[c.index]) for e in key))
        case p.Aggregate():
            keys = plan.keys
            if any(column >= len(keys) for e in key for column in columns_of(e)):
                return None
            return plan.input, tuple(substitute(e, lambda c: keys[c.index]) for e in key)
        case p.Distinct():
            return plan.input, key
        case _:
            return None
