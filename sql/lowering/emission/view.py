"""Lowering of TRIGGER and EMIT: from a view's trace to what leaves, and when.

    records ─► agendas ─► trigger ─► emit ─► out         the trigger and emit read the view's trace

All is placed by the view's stream key, or by the whole row where it has none.
"""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.emission.keyed import Keyed
from dbsp.sql.lowering.emission.records import lower_records
from dbsp.sql.lowering.emission.schedules import lower_schedule
from dbsp.sql.lowering.emission.triggers import lower_triggers
from dbsp.sql.plans.program import Ordered, Schedule, Triggers, View
from dbsp.sql.plans.schemas import Key


def lower_emission(lowering: Lowering, view: View, node: int, stream_key: Key) -> tuple[int, int]:
    """(the view's trace, the node of its emissions)."""
    given, builder = view.emission, lowering.builder
    assert given is not None
    ordered = given.by if isinstance(given, Ordered) else None
    if stream_key is not None and not _reads(ordered) <= {*stream_key}:
        stream_key = None  # what is waited for must be in the key
    key = tuple(range(len(view.schema))) if stream_key is None else stream_key
    trace = builder.add(Integrate(key), builder.placed(node, key))
    records = lower_records(lowering, view, trace, key, keyed=stream_key is not None)
    keyed = Keyed(lowering, view, node, key, records)
    if isinstance(given, Schedule) and given.rate_only and not any(one.window for one in keyed.values()):
        given = given.of_any_key
    if isinstance(given, Triggers):
        trigger, limits = lower_triggers(keyed, given, ordered)
    else:
        trigger, limits = lower_schedule(keyed, given)
    fired = builder.add(trigger, records, trace, *keyed.agendas, *keyed.proofs)
    emits = Emit(key, trigger.schedule, limits, view.name if view.emits_once else "")
    return trace, builder.add(emits, fired, trace, name=view.name)


def _reads(ordered: Expression | None) -> set[int]:
    return set() if ordered is None else set(columns_of(ordered))
