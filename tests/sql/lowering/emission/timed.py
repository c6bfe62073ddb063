"""Views of windows in tests, as far as their emission is lowered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.emission.keyed import Keyed
from dbsp.sql.lowering.emission.records import lower_records
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.lowering.tables import lower_table
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import ColumnLateness, Emission, Table
from dbsp.sql.plans.schemas import Field, Windows
from tests.sql.hand_made import INT, table, view
from tests.sql.lowering.lowered import circuit_with

MINUTE, HOUR = 60_000_000, 3_600_000_000
TIME = pa.timestamp("us", tz="UTC")
BID = Scan("bid", (Field("made", TIME), Field("k", INT), Field("text", pa.string())))
BIDS = replace(table(BID), lateness=(ColumnLateness(0, MINUTE, None),))
MADE = Column(0, TIME)
COUNT = AggregateCall("count", (), INT, False)
START = Windows("start", HOUR)
AN_HOUR = Literal(timedelta(hours=1), pa.duration("us"))
HOURS = Call("trunc_timestamp", (Literal("HOUR", pa.string()), MADE), TIME, options=(("timeZoneId", "UTC"),))
ENDS = Call("timestamp_add_interval", (HOURS, AN_HOUR), TIME)


def by_hour(window: Windows | None = START, selected: tuple[str, ...] = ("hour", "k", "n")) -> Plan:
    """The bids of each hour, or its end, and k, counted; of the columns those that are selected."""
    hour = ENDS if window is not None and window.part == "end" else HOURS
    hours = Project(BID, (hour, Column(1, INT)), (Field("hour", TIME), Field("k", INT)))
    fields = (Field("hour", TIME, window=window), Field("k", INT), Field("n", INT, False))
    grouped = Aggregate(hours, (Column(0, TIME), Column(1, INT)), (COUNT,), fields)
    chosen = [i for i, field in enumerate(fields) if field.name in selected]
    columns = tuple(Column(i, fields[i].type, fields[i].nullable) for i in chosen)
    return Project(grouped, columns, tuple(fields[i] for i in chosen))


def keyed_of(plan: Plan, bids: Table = BIDS) -> Keyed:
    lowering = Lowering(KINDS)
    lower_table(lowering, bids, arrives=False)
    node, stream_key = lowering.plan(plan), lowering.stream_key(plan)
    key = tuple(range(len(plan.schema))) if stream_key is None else stream_key
    trace = lowering.builder.add(Integrate(key), lowering.builder.placed(node, key))
    of = view("v", plan)
    records = lower_records(lowering, of, trace, key, keyed=stream_key is not None)
    return Keyed(lowering, of, node, key, records)


def emitted(plan: Plan, emission: Emission, bids: Table = BIDS, **given: Any) -> Circuit:
    return circuit_with([view("v", plan, emission=emission, **given)], (bids,))
