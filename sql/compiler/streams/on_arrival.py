"""A stream joined with a table that changes: a row meets the table when it arrives, once.

A relation would follow the table's later changes; a stream's rows are never taken back, so they can't.

    SELECT STREAM …                          With a table that only grows a row may still meet what comes
                                             later; with another stream a waterline says when nothing will.
    CREATE STREAMING TABLE … FROM STREAM(s)  What is read without STREAM is read as it is, though it only
                                             grows, as Spark's streams read it. Two streams meet wholly.

Source: Apache Calcite, "Streaming", joins of streams to tables; Spark's "Stream-static joins".
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from dbsp.circuits.expressions.nodes import Column, remap
from dbsp.sql.plans.nodes import ArrivalJoin, Join, Project, Union
from dbsp.sql.plans.nodes.arrival_join import ARRIVAL_JOINS
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan


def on_arrival(plan: Plan, streams: Set[str], grows: Mapping[str, bool], as_it_is: bool = False) -> Plan:
    """The plan of a stream. grows: of each relation, whether no row is ever retracted.

    as_it_is: whether a table that only grows is read so, too.
    """
    if not plan.inputs:
        return plan
    plan = plan.over(*(on_arrival(input_, streams, grows, as_it_is) for input_ in plan.inputs))
    if not isinstance(plan, Join) or plan.kind not in ARRIVAL_JOINS:
        return plan
    if _meets(plan.left, plan.right, streams, grows, as_it_is):
        keys = (plan.left_keys, plan.right_keys, plan.null_safe)
        return ArrivalJoin(plan.left, plan.right, plan.kind, *keys, plan.residual, plan.schema)
    if plan.kind == "inner" and _meets(plan.right, plan.left, streams, grows, as_it_is):
        return _turned(plan)
    return plan


def follows(plan: Plan, streams: Set[str]) -> str | None:
    """A relation that rows of the streams meet later than when they arrive; None: there is none."""
    if not isinstance(plan, (ArrivalJoin, Union)) and len(plan.inputs) > 1:
        sides = [input_.scanned() for input_ in plan.inputs]
        beside = [side for side in sides if side and not side & streams]
        if beside and any(side & streams for side in sides):
            return min(beside[0])
    return next((found for input_ in plan.inputs if (found := follows(input_, streams)) is not None), None)


def _meets(stream: Plan, table: Plan, streams: Set[str], grows: Mapping[str, bool], as_it_is: bool) -> bool:
    is_stream = bool(stream.scanned() & streams) and stream.append_only(grows)
    changes = bool(table.scanned()) if as_it_is else not table.append_only(grows)
    return is_stream and not table.scanned() & streams and changes


def _turned(join: Join) -> Plan:
    """With the stream on the left, and the columns back in their order."""
    left, right = len(join.left.schema), len(join.right.schema)
    place = {i: i + right if i < left else i - left for i in range(left + right)}
    turned = ArrivalJoin(
        join.right,
        join.left,
        join.kind,
        join.right_keys,
        join.left_keys,
        join.null_safe,
        None if join.residual is None else remap(join.residual, place),
        join_schema(join.kind, join.right.schema, join.left.schema),
    )
    columns = tuple(Column(place[i], f.type, f.nullable) for i, f in enumerate(join.schema))
    return Project(turned, columns, join.schema)
