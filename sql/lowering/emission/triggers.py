"""TRIGGER: keys fire when so many records came, a time has passed since the last, or they are final."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_bits
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.mirror import mirrored
from dbsp.circuits.expressions.monotone import Bound, Bounds, bound_of
from dbsp.circuits.expressions.nodes import Column, Expression, columns_of, remap
from dbsp.circuits.operators.emission.timers import After, At, Timers
from dbsp.circuits.operators.emission.trigger import Passed, Trigger
from dbsp.circuits.operators.groups.combine_expanded import CombineExpanded
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.operators.linear import FlatMap
from dbsp.circuits.progress.limits import Limit
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.lowering.emission.keyed import Keyed
from dbsp.sql.plans.program import Triggers

Watched = tuple[Expression, Bound]


def lower_triggers(
    keyed: Keyed, given: Triggers, ordered: Expression | None
) -> tuple[Trigger, tuple[Limit, ...]]:
    """(the trigger, what no emission follows). ordered: what a stream's rows leave in the order of."""
    watched = _watched(keyed, given, ordered) if given.waterline else []
    thresholds = [keyed.threshold(bound) for _, bound in watched]
    if given.delay is not None:
        keyed.lowering.watch_clock()
        clock = Threshold((CLOCK,), (Column(0, CLOCK.type),), at_once=True)
        keyed.add_agenda(Timers(keyed.places, After(given.delay), clock))
    passed = []
    for (value, _), threshold in zip(watched, thresholds, strict=True):
        keyed.add_agenda(Timers(keyed.places, At(value), threshold))
        passed.append(Passed(value, threshold))
    limits = tuple(Limit(keyed.over_view(value), bound) for value, bound in watched)
    return Trigger(
        keyed.key, len(keyed.agendas), given.counting, given.delay, tuple(passed), paced=given.paced
    ), limits


def _watched(keyed: Keyed, given: Triggers, ordered: Expression | None) -> list[Watched]:
    """The key's columns, or fields of one, that a waterline bounds; one for each waterline.

    Of GROUPING SETS all: where one is NULL, as it isn't of the set, another tells.
    """
    found: list[Watched] = []
    seen: set[int] = set()
    bounds = all_bounds(keyed.lowering.builder.build())
    alternates = _alternates(keyed, bounds)
    for value, bound in _bounded(keyed, bounds, ordered):
        waterlines = {column for e in bound for column in columns_of(e)}
        if alternates or not waterlines <= seen:
            seen |= waterlines
            found.append((value, bound))
    if not found:
        raise _never_fires(keyed, given)
    return found


def _alternates(keyed: Keyed, bounds: Sequence[Bounds]) -> bool:
    """Whether a bounded column of the view may be NULL for the set that a row is of."""
    nodes, waiting, seen = keyed.lowering.builder.nodes, [keyed.node], set[int]()
    while waiting:
        number = waiting.pop()
        if number not in seen:
            seen.add(number)
            node = nodes[number]
            if isinstance(node.operator, FlatMap | CombineExpanded) and node.operator.alternates(
                [bounds[i] for i in node.inputs]
            ):
                return True
            waiting.extend(node.inputs)
    return False


def _bounded(keyed: Keyed, bounds: Sequence[Bounds], ordered: Expression | None) -> Iterator[Watched]:
    """Each bounded value of the key, over its columns; of an ordered stream what it is ordered by."""
    if ordered is not None:  # a row that is final before waits for its turn
        position = {column: i for i, column in enumerate(keyed.key)}
        values = [(remap(ordered, position), ordered, keyed.node)]
    else:
        values = [(one.over_key, one.made, one.node) for one in keyed.values()]
    for value, made, node in values:
        if has_order_bits(value.type) or pt.is_decimal(value.type):
            for turned, source in ((value, made), (mirrored(value), mirrored(made))):
                bound = bound_of(source, bounds[node])
                if bound is not None:
                    yield turned, bound


def _never_fires(keyed: Keyed, given: Triggers) -> ProgramError:
    why = f"no waterline bounds a column of its stream key ({keyed.names})"
    cure = "give the time it is grouped by a LATENESS, and select that group (window, window.end or a "
    name = keyed.view.name
    if given.once:
        never = f"no row of the stream '{name}' is ever final"
        return ProgramError(f"{given.location}: {never}: {why}; {cure}truncated time), or leave STREAM out")
    never = f"ON WATERMARK never fires for view '{name}'"
    cure += "truncated time), or use COUNTING or AFTER DELAY"
    return ProgramError(f"{given.location}: {never}: {why}; {cure}")
