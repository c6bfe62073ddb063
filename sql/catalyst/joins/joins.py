"""Joins: the equality keys are taken out of the condition, what remains is the residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, remap
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.sql.catalyst.clock.temporal import Clocked, temporal_filter
from dbsp.sql.catalyst.clock.timed_joins import narrowed, without_pairs
from dbsp.sql.catalyst.joins.disjunctions import alternatives, is_key, joined_by_any
from dbsp.sql.catalyst.joins.single import single, single_row
from dbsp.sql.catalyst.reading.clock import reads_clock
from dbsp.sql.catalyst.reading.expressions import expression, normalized, under_names_of
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.nodes import Join, Project
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema

_KINDS = {
    "Inner": "inner",
    "Cross": "inner",
    "LeftOuter": "left",
    "RightOuter": "left",  # with its sides exchanged
    "FullOuter": "full",
    "LeftSemi": "semi",
    "LeftAnti": "anti",
    "ExistenceJoin": "existence",
}


@dataclass
class Condition:
    """A join's condition, sorted into keys and the rest."""

    left: list[Expression] = field(default_factory=list)
    right: list[Expression] = field(default_factory=list)
    null_safe: list[bool] = field(default_factory=list)
    residual: list[Node] = field(default_factory=list)


def join(query: Query, node: Node, left: Relation, right: Relation) -> Relation:
    """Raises ProgramError for kinds that are not maintained yet."""
    type_ = node["o"]["joinType"]
    spark_kind = type_ if isinstance(type_, str) else type_["class"]
    if spark_kind == "LeftSingle":
        return _single(query, node, left, right)
    kind = _KINDS.get(spark_kind)
    if kind is None:
        raise query.refuse(node, f"join of kind {spark_kind}")
    if spark_kind == "RightOuter":
        return _exchanged(_joined(query, node, kind, right, left), len(left.ids))
    joined = _joined(query, node, kind, left, right)
    if kind == "existence":
        return Relation(joined.plan, (*left.ids, type_["exists"]["id"]))
    return joined


def _joined(query: Query, node: Node, kind: str, left: Relation, right: Relation) -> Relation:
    condition = split(query, node, left.position, right.position)
    timed = [part for part in condition.residual if reads_clock(part)]
    if not timed:
        return _compared(query, node, kind, left, right, condition)
    condition.residual = [part for part in condition.residual if part not in timed]
    if kind == "inner" or not all(_reads_one(part, left, right) for part in timed):
        pairs = _compared(query, node, "inner", left, right, condition)
        return without_pairs(kind, left, right, temporal_filter(query, timed, pairs))
    sides = [Clocked(query, side.plan) for side in (left, right)]
    flags: list[tuple[int, Column]] = []
    for part in timed:
        which = int(not _ids(part) <= left.position.keys())
        value = expression(query, part, (left, right)[which].position)
        flag = sides[which].column(value, part)
        assert isinstance(flag, Column), flag
        flags.append((which, flag))
    wide, other = (
        Relation(c.plan, (*side.ids, *c.ids)) for side, c in zip((left, right), sides, strict=True)
    )
    shift = len(wide.ids)
    met = [replace(flag, index=flag.index + which * shift) for which, flag in flags]
    return narrowed(kind, left, right, _compared(query, node, kind, wide, other, condition, met), shift)


def _reads_one(part: Node, left: Relation, right: Relation) -> bool:
    return any(_ids(part) <= side.position.keys() for side in (left, right))


def _compared(
    query: Query,
    node: Node,
    kind: str,
    left: Relation,
    right: Relation,
    condition: Condition,
    met: Sequence[Expression] = (),
) -> Relation:
    """The join by a condition that doesn't read the clock. met: what else must be true, over both sides."""
    ids = (*left.ids, *right.ids)
    both = {id_: index for index, id_ in enumerate(ids)}
    residual = conjunction([*(expression(query, part, both) for part in condition.residual), *met])
    width = len(left.ids)
    terms = alternatives(residual, width) if residual is not None and not condition.left else []
    joined: Plan
    if terms:
        joined = joined_by_any(kind, left.plan, right.plan, terms, _Conjunctive(query, node))
    else:
        joined = Join(
            left.plan,
            right.plan,
            kind,
            tuple(condition.left),
            tuple(condition.right),
            tuple(condition.null_safe),
            residual,
            join_schema(kind, left.plan.schema, right.plan.schema),
        )
    return Relation(joined, ids if kind in ("inner", "left", "full") else left.ids)


def _single(query: Query, node: Node, left: Relation, right: Relation) -> Relation:
    """Every left row beside its one match, or NULLs; an error where it has several.

    What a key has of values and how many is a group of the right; only a left row with the key asks.
    """
    condition = split(query, node, left.position, right.position)
    if condition.residual:
        raise query.refuse(node, "a scalar subquery correlated by more than equalities")
    keys, width = len(condition.left), len(left.ids)
    grouped = single(query, node, right.plan, tuple(condition.right), columns_of_schema(right.plan.schema))
    columns = columns_of_schema(grouped.schema)
    joined = Join(
        left.plan,
        grouped,
        "left",
        tuple(condition.left),
        columns[:keys],
        tuple(condition.null_safe),
        None,
        join_schema("left", left.plan.schema, grouped.schema),
    )
    every = columns_of_schema(joined.schema)
    values = tuple(single_row(value, every[-1]) for value in every[width + keys : -1])
    schema = join_schema("left", left.plan.schema, right.plan.schema)
    return Relation(Project(joined, (*every[:width], *values), schema), (*left.ids, *right.ids))


@dataclass(frozen=True)
class _Conjunctive:
    """Makes the join of two plans by terms that must all be true of a pair."""

    query: Query
    node: Node

    def __call__(self, kind: str, left: Plan, right: Plan, terms: list[Expression]) -> Join:
        width = len(left.schema)
        keys: list[tuple[Expression, Expression, bool]] = []
        residual: list[Expression] = []
        for term in terms:
            if not is_key(term, width):
                residual.append(term)
                continue
            assert isinstance(term, Call)
            mine, other = sorted(term.arguments, key=lambda side: next(columns_of(side)) >= width)
            other = remap(other, {i: i - width for i in columns_of(other)})
            sides = [normalized(self.query, self.node, side) for side in (mine, other)]
            same = under_names_of(sides[0].type, sides[1])
            keys.append((sides[0], same, term.function == "equal_null_safe"))
        return Join(
            left,
            right,
            kind,
            tuple(mine for mine, _, _ in keys),
            tuple(other for _, other, _ in keys),
            tuple(safe for _, _, safe in keys),
            conjunction(residual),
            join_schema(kind, left.schema, right.schema),
        )


def _exchanged(joined: Relation, width: int) -> Relation:
    """The last `width` columns first."""
    columns, schema, ids = columns_of_schema(joined.plan.schema), joined.plan.schema, joined.ids
    position = len(ids) - width
    plan = Project(
        joined.plan, columns[position:] + columns[:position], schema[position:] + schema[:position]
    )
    return Relation(plan, ids[position:] + ids[:position])


def split(
    query: Query, node: Node, left_position: Mapping[int, int], right_position: Mapping[int, int]
) -> Condition:
    """The node's condition. What has no values of ours is compared pair by pair."""
    condition = Condition()
    for part in conjuncts(node["o"]["condition"]):
        if part["c"] in ("EqualTo", "EqualNullSafe") and all(map(query.is_a_value, part["k"])):
            first, second = part["k"]
            if reads_only(second, left_position) and reads_only(first, right_position):
                first, second = second, first
            if reads_only(first, left_position) and reads_only(second, right_position):
                mine = normalized(query, part, expression(query, first, left_position))
                other = normalized(query, part, expression(query, second, right_position))
                condition.left.append(mine)
                condition.right.append(under_names_of(mine.type, other))
                condition.null_safe.append(part["c"] == "EqualNullSafe")
                continue
        condition.residual.append(part)
    return condition


def conjuncts(node: Node | None) -> list[Node]:
    if node is None:
        return []
    if node["c"] == "And":
        return [part for child in node["k"] for part in conjuncts(child)]
    return [node]


def _ids(node: Node) -> set[int]:
    if node["c"] in ("AttributeReference", "ScalarSubquery"):
        return {node["id"]}
    return {id_ for child in node.get("k", ()) for id_ in _ids(child)}


def reads_only(node: Node, position: Mapping[int, int]) -> bool:
    ids = _ids(node)
    return bool(ids) and ids <= position.keys()
