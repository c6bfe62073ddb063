"""Joins: the equality keys are taken out of the condition, what remains is the residual.

left ⋉ right ON keys  =  left ⋈ distinct(π_keys(right)) ON keys      (a semi-join without residual)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from circuits.expressions.nodes import Call, Column, Expression
from sql.catalyst.expressions import expression, normalized
from sql.catalyst.query import Node, Query
from sql.catalyst.relation import Relation
from sql.plan import Distinct, Field, Join, Plan, Project

_REFUSED = {
    "LeftOuter": "LEFT JOIN",
    "RightOuter": "RIGHT JOIN",
    "FullOuter": "FULL JOIN",
    "LeftAnti": "ANTI JOIN (NOT IN, NOT EXISTS)",
    "ExistenceJoin": "EXISTS or IN (SELECT ...) inside an expression",
    "LeftSingle": "a correlated scalar subquery",
    "Cross": "CROSS JOIN",
}


@dataclass
class _Condition:
    """A join's condition, sorted into keys and the rest."""

    left: list[Expression] = field(default_factory=list)
    right: list[Expression] = field(default_factory=list)
    null_safe: list[bool] = field(default_factory=list)
    residual: list[Node] = field(default_factory=list)


def join(query: Query, node: Node, left: Relation, right: Relation) -> Relation:
    """Raises ProgramError for kinds and conditions that are not maintained yet."""
    type_ = node["o"]["joinType"]
    kind = type_ if isinstance(type_, str) else type_["class"]
    if kind in _REFUSED and not (kind == "Cross" and node["o"]["condition"]):
        raise query.refuse(node, _REFUSED[kind])
    if kind not in ("Inner", "Cross", "LeftSemi"):
        raise query.refuse(node, f"join of kind {kind}")
    condition = _split(query, node, left.position, right.position)
    if not condition.left:
        what = "a join without an equality between its sides"
        raise query.error(node, f"not supported yet: {what}; add one to its ON or WHERE condition")
    if kind == "LeftSemi":
        return Relation(_semi(query, node, left.plan, right.plan, condition), left.ids)
    ids = (*left.ids, *right.ids)
    both = {id_: index for index, id_ in enumerate(ids)}
    joined = Join(
        left.plan,
        right.plan,
        "inner",
        tuple(condition.left),
        tuple(condition.right),
        tuple(condition.null_safe),
        _conjunction([expression(query, part, both) for part in condition.residual]),
        (*left.plan.schema, *right.plan.schema),
    )
    return Relation(joined, ids)


def _semi(query: Query, node: Node, left: Plan, right: Plan, condition: _Condition) -> Plan:
    if condition.residual:
        raise query.refuse(node, "IN or EXISTS (SELECT ...) correlated by more than equalities")
    keys = tuple(condition.right)
    schema = tuple(Field(str(key), key.type, key.nullable) for key in keys)
    distinct = Distinct(Project(right, keys, schema))
    columns = tuple(Column(i, key.type, key.nullable) for i, key in enumerate(keys))
    joined = Join(
        left,
        distinct,
        "inner",
        tuple(condition.left),
        columns,
        tuple(condition.null_safe),
        None,
        (*left.schema, *schema),
    )
    kept = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(left.schema))
    return Project(joined, kept, left.schema)


def _split(
    query: Query, node: Node, left_position: Mapping[int, int], right_position: Mapping[int, int]
) -> _Condition:
    condition = _Condition()
    for part in _conjuncts(node["o"]["condition"]):
        if part["c"] in ("EqualTo", "EqualNullSafe"):
            first, second = part["k"]
            if _reads_only(second, left_position) and _reads_only(first, right_position):
                first, second = second, first
            if _reads_only(first, left_position) and _reads_only(second, right_position):
                condition.left.append(normalized(query, part, expression(query, first, left_position)))
                condition.right.append(normalized(query, part, expression(query, second, right_position)))
                condition.null_safe.append(part["c"] == "EqualNullSafe")
                continue
        condition.residual.append(part)
    return condition


def _conjuncts(node: Node | None) -> list[Node]:
    if node is None:
        return []
    if node["c"] == "And":
        return [part for child in node["k"] for part in _conjuncts(child)]
    return [node]


def _ids(node: Node) -> set[int]:
    if node["c"] == "AttributeReference":
        return {node["id"]}
    return {id_ for child in node.get("k", ()) for id_ in _ids(child)}


def _reads_only(node: Node, position: Mapping[int, int]) -> bool:
    ids = _ids(node)
    return bool(ids) and ids <= position.keys()


def _conjunction(parts: list[Expression]) -> Expression | None:
    whole: Expression | None = None
    for part in parts:
        whole = part if whole is None else Call("and", (whole, part), pa.bool_(), True)
    return whole
