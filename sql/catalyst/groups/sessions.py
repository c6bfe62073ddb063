"""session_window: Catalyst groups by the session of each row alone, [ts, ts + gap); merging those that
overlap is left to whoever runs the plan.

    γ[session, k; f](a)   =   γ[(start, end), k; f](ω a)     start, end: of the merged session of the row

ω are functions over the other keys' partitions (`circuits/operators/groups/sessions.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import WindowCall
from dbsp.sql.plans.nodes import Project, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Windows


def merged_sessions(
    query: Query,
    grouping: Sequence[Node],
    keys: Sequence[Expression],
    input_: Plan,
    position: Mapping[int, int],
) -> Plan:
    """The input of a GROUP BY, whose session column holds merged sessions; the input itself without one.

    grouping, keys: what is grouped by, as dumped and as read.
    """
    sessions = [i for i, key in enumerate(grouping) if "spark.sessionWindow" in key.get("m", {})]
    if not sessions:
        return input_
    (place,) = sessions
    column = position[grouping[place]["id"]]
    session = input_.schema[column]
    columns: list[Expression] = [Column(i, f.type, f.nullable) for i, f in enumerate(input_.schema)]
    # as columns of a Project, so that rules find what the struct was made of
    ends = tuple(_end(Column(column, session.type, session.nullable), i) for i in range(2))
    width = len(columns)
    spans = tuple(Field(name, end.type, False) for name, end in zip(("start", "end"), ends, strict=True))
    rows = Project(input_, (*columns, *ends), (*input_.schema, *spans))
    arguments = tuple(Column(width + i, end.type, False) for i, end in enumerate(ends))
    text = query.spelled(grouping[place])
    calls = tuple(
        WindowCall(function, arguments, ends[0].type, False, text=text)
        for function in ("session_start", "session_end")
    )
    named = tuple(Field(call.function, call.type, False) for call in calls)
    partition = tuple(key for i, key in enumerate(keys) if i != place)
    computed = Window(rows, partition, calls, (*rows.schema, *named))
    parts = (Column(width + 2, ends[0].type, False), Column(width + 3, ends[0].type, False))
    names = (Literal(session.type.field(i).name, pa.string()) for i in range(2))
    values = tuple(value for pair in zip(names, parts, strict=True) for value in pair)
    columns[column] = Call("create_named_struct", values, session.type, nullable=False)
    fields = list(input_.schema)
    fields[column] = replace(session, nullable=False, window=Windows("both", None))
    return Project(computed, tuple(columns), tuple(fields))


def _end(session: Column, ordinal: int) -> Expression:
    """start or end of a row's own session."""
    data_type = session.type.field(ordinal).type
    return Call("get_struct_field", (session,), data_type, session.nullable, (("ordinal", ordinal),))
