"""ASOF JOIN: Spark's own node, whose match condition has the left time on its left."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.sql.catalyst.joins.joins import reads_only, split
from dbsp.sql.catalyst.reading.expressions import expression
from dbsp.sql.catalyst.reading.query import Node, Query, nodes_in
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.nodes import AsOf, Filter
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan

_KINDS = {"Inner": "inner", "LeftOuter": "left"}
_COMPARISONS = {
    "GreaterThanOrEqual": "greater_than_or_equal",
    "GreaterThan": "greater_than",
    "LessThanOrEqual": "less_than_or_equal",
    "LessThan": "less_than",
}


def as_of(query: Query, node: Node, left: Relation, right: Relation) -> Relation:
    """Raises ProgramError for conditions that are not maintained yet.

    What ON says of one side beside the keys is a filter of it; where left rows stay anyhow, one that doesn't
    meet it has no time, and so no match.
    """
    options = node["o"]
    kind = _KINDS.get(options["joinType"])
    if kind is None or options["toleranceAssertion"] is not None:
        raise query.refuse(node, f"ASOF JOIN of kind {options['joinType']}", "ASOF")
    if any(inner["c"] == "ScalarSubquery" for inner in nodes_in(options)):
        raise query.refuse(node, "a sub-query in the condition of ASOF JOIN", "ASOF")
    condition = split(query, node, left.position, right.position)
    mine, other = options["asOfCondition"]["k"]
    left_time, right_time = expression(query, mine, left.position), expression(query, other, right.position)
    own: list[Expression] = []
    rows: Plan = right.plan
    for part in condition.residual:
        if reads_only(part, right.position):
            rows = Filter(rows, expression(query, part, right.position))
        elif reads_only(part, left.position) or not any(
            n["c"] == "AttributeReference" for n in nodes_in(part)
        ):
            own.append(expression(query, part, left.position))
        else:
            message = "ASOF JOIN with an ON that compares the sides by more than equalities"
            raise query.refuse(part, message)
    asking, restriction = left.plan, conjunction(own)
    if restriction is not None and kind == "inner":
        asking = Filter(asking, restriction)
    elif restriction is not None:
        never = Literal(None, left_time.type)
        left_time = Call("if", (_or_false(restriction), left_time, never), left_time.type)
    joined = AsOf(
        asking,
        rows,
        kind,
        tuple(condition.left),
        tuple(condition.right),
        tuple(condition.null_safe),
        left_time,
        right_time,
        _COMPARISONS[options["asOfCondition"]["c"]],
        join_schema(kind, asking.schema, rows.schema),
    )
    return Relation(joined, (*left.ids, *right.ids))


def _or_false(condition: Expression) -> Call:
    return Call("coalesce", (condition, Literal(False, pa.bool_())), pa.bool_(), nullable=False)
