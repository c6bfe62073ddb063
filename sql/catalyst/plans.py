"""Dumped plans as ours: names and expression ids become positions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Column, Expression, Literal
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.circuits.operators.inputs.arrival_times import ROWTIME
from dbsp.sql.catalyst.clock.temporal import Clocked, check_clock, temporal_filter
from dbsp.sql.catalyst.generators import generate
from dbsp.sql.catalyst.groups.aggregates import aggregate
from dbsp.sql.catalyst.groups.limits import limit, ordered
from dbsp.sql.catalyst.groups.time_windows import declared_windows, windows_of, with_windows
from dbsp.sql.catalyst.groups.windows import computed, is_function, window
from dbsp.sql.catalyst.joins.as_of import as_of
from dbsp.sql.catalyst.joins.joins import conjuncts, join
from dbsp.sql.catalyst.joins.scalars import first_columns, met_by_scalars, scalars_in, with_scalars
from dbsp.sql.catalyst.jvm.session import RELATION
from dbsp.sql.catalyst.reading.clock import reads_clock
from dbsp.sql.catalyst.reading.expressions import expression, normalized, under_names_of
from dbsp.sql.catalyst.reading.literals import literal_value
from dbsp.sql.catalyst.reading.query import Node, Query, nodes_in
from dbsp.sql.catalyst.reading.relation import ONE_ROW, Relation, with_columns, without_columns
from dbsp.sql.catalyst.recursion import check_monotone, level_before, union_loop
from dbsp.sql.plans.nodes import Distinct, Expand, Filter, Project, Scan, SetOperation, Union, Values
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema, columns_of_schema
from dbsp.sql.plans.types import UnsupportedType

_REFUSED = {
    "LocalLimit": "LIMIT",
    "Tail": "LIMIT",
    "Sample": "TABLESAMPLE, which draws rows by chance; say by what they hold which are meant, as in "
    "WHERE pmod(hash(id), 100) < 10",
    "LateralJoin": "LATERAL joins",
    "Pivot": "PIVOT",
    "ScriptTransformation": "TRANSFORM by a script; write a function in Python, by CREATE FUNCTION",
    "LogicalRelation": "a table of Spark's own catalog; declare it with CREATE TABLE",
    "HiveTableRelation": "a table of Spark's own catalog; declare it with CREATE TABLE",
    "DataSourceV2Relation": "a table of Spark's own catalog; declare it with CREATE TABLE",
}
# Where rows are, or in which order, is no part of a view's contents.
_TRANSPARENT = {
    "Sort",
    "SubqueryAlias",
    "View",
    "Repartition",
    "RepartitionByExpression",
    "RebalancePartitions",
    "ResolvedHint",
}


def plan(query: Query, node: Node) -> Relation:
    """Raises ProgramError for what is not maintained yet."""
    name = node["op"]
    if name in _TRANSPARENT:
        return plan(query, node["k"][0])
    if name in _REFUSED:
        raise query.refuse(node, _REFUSED[name], re.split(r"\W", _REFUSED[name])[0])
    translate = _TRANSLATE.get(name)
    if translate is None:
        raise query.refuse(node, f"Spark's plan node {name}")
    relation = with_columns(translate(query, node))
    check_clock(query, node, relation.plan)
    if query.recursive:
        check_monotone(query, node, relation.plan)
    return relation


def output(query: Query, node: Node) -> tuple[Schema, tuple[int, ...]]:
    """The node's own schema and ids."""
    fields = tuple(
        Field(name, query.column_type(node, type_), null) for name, _, type_, null, _ in node["out"]
    )
    return fields, tuple(id_ for _, id_, _, _, _ in node["out"])


def _scan(query: Query, node: Node) -> Relation:
    schema, ids = output(query, node)
    relations = {metadata.get(RELATION) for *_, metadata in node["out"]}
    assert len(relations) == 1 and None not in relations, f"a leaf that is no table of ours: {node['out']}"
    name = relations.pop()
    known = declared_windows(query.relations.get(name, schema))
    # what stands beside a table's columns is when its row came, and its number
    beside = schema[len(known) :]
    rowtime, arrival = beside[:1] and beside[0].name == ROWTIME, beside[-1:] and beside[-1].name != ROWTIME
    fields = with_windows(schema, (*known, *(None for _ in beside)))
    return Relation(Scan(name, fields, bool(arrival), bool(rowtime)), ids)


def _values(query: Query, node: Node) -> Relation:
    schema, ids = output(query, node)
    try:
        rows = tuple(
            tuple(Literal(literal_value(v, f.type), f.type) for v, f in zip(row, schema, strict=True))
            for row in node["o"]["rows"]
        )
    except UnsupportedType as error:
        raise query.refuse(node, str(error)) from None
    if not schema:
        return Relation(Values(ONE_ROW.rows * len(rows), ONE_ROW.schema), (-1,))
    return Relation(Values(rows, schema), ids)


# a relation of constants is part of the plan, each row by itself
_LARGEST_RANGE = 10_000


def _range(query: Query, node: Node) -> Relation:
    """range(start, end, step): its numbers, as VALUES has them."""
    numbers = range(*(int(node["o"][part]) for part in ("start", "end", "step")))
    if len(numbers) > _LARGEST_RANGE:
        raise query.refuse(node, f"range() of {len(numbers)} numbers, more than {_LARGEST_RANGE}", "RANGE")
    schema, ids = output(query, node)
    if not schema:
        return Relation(Values(ONE_ROW.rows * len(numbers), ONE_ROW.schema), (-1,))
    return Relation(Values(tuple((Literal(n, schema[0].type),) for n in numbers), schema), ids)


def _one_row(query: Query, node: Node) -> Relation:
    return Relation(ONE_ROW, (-1,))


def _project(query: Query, node: Node) -> Relation:
    child = plan(query, node["k"][0])
    child = with_scalars(query, node["o"], child, plan)
    clocked = Clocked(query, child.plan)
    expressions = tuple(
        clocked.column(expression(query, item, child.position), item) for item in node["o"]["projectList"]
    )
    schema, ids = output(query, node)
    if not schema:
        return without_columns(clocked.plan)
    schema = with_windows(schema, windows_of(expressions, clocked.plan.schema))
    return Relation(Project(clocked.plan, expressions, schema), ids)


def _filter(query: Query, node: Node) -> Relation:
    """What doesn't read a scalar sub-query is met first; what equals one becomes the key of its join."""
    child = plan(query, node["k"][0])
    width = len(child.ids)
    parts = conjuncts(node["o"]["condition"])
    own = [part for part in parts if not any(scalars_in(part)) and not reads_clock(part)]
    timed = [part for part in parts if not any(scalars_in(part)) and reads_clock(part)]
    condition = conjunction([expression(query, part, child.position) for part in own])
    if condition is not None:
        child = Relation(Filter(child.plan, condition), child.ids)
    child = temporal_filter(query, timed, child)
    for part in parts:
        if any(scalars_in(part)):
            child = met_by_scalars(query, part, child, plan)
    return first_columns(child, width)


def _distinct(query: Query, node: Node) -> Relation:
    child = plan(query, node["k"][0])
    return Relation(Distinct(normalized_columns(query, node, child.plan)), child.ids)


def normalized_columns(query: Query, node: Node, input_: Plan) -> Plan:
    columns: tuple[Expression, ...] = tuple(
        Column(i, field.type, field.nullable) for i, field in enumerate(input_.schema)
    )
    keys = tuple(normalized(query, node, column) for column in columns)
    return input_ if keys == columns else Project(input_, keys, input_.schema)


def _levels(query: Query, node: Node) -> Relation:
    schema, ids = output(query, node)
    anchor = plan(query, node["k"][0]).plan
    inner = replace(query, recursive=query.recursive | {LEVEL})
    return Relation(union_loop(inner, node, anchor, plan(inner, node["k"][1]).plan, schema), ids)


def _level_before(query: Query, node: Node) -> Relation:
    schema, ids = output(query, node)
    return Relation(level_before(schema), ids)


def _union(query: Query, node: Node) -> Relation:
    children = [plan(query, child).plan for child in node["k"]]
    schema, ids = output(query, node)
    if not schema:
        children = [without_columns(child).plan for child in children]
        return Relation(Union(tuple(children), children[0].schema), (-1,))
    schema = with_windows(schema, *(declared_windows(child.schema) for child in children))
    return Relation(Union(tuple(_under_names_of(schema, child) for child in children), schema), ids)


def _under_names_of(schema: Schema, input_: Plan) -> Plan:
    """Structs have the fields' names of the first input."""
    columns = columns_of_schema(input_.schema)
    named = tuple(under_names_of(f.type, column) for f, column in zip(schema, columns, strict=True))
    if named == columns:
        return input_
    fields = tuple(replace(f, type=column.type) for f, column in zip(input_.schema, named, strict=True))
    return Project(input_, named, fields)


def _expand(query: Query, node: Node) -> Relation:
    child = plan(query, node["k"][0])
    child = with_scalars(query, node["o"], child, plan)
    projections = tuple(
        tuple(expression(query, item, child.position) for item in row) for row in node["o"]["projections"]
    )
    schema, ids = output(query, node)
    schema = with_windows(schema, *(windows_of(row, child.plan.schema) for row in projections))
    return Relation(Expand(child.plan, projections, schema), ids)


def _generate(query: Query, node: Node) -> Relation:
    return generate(query, node, plan(query, node["k"][0]))


def _aggregate(query: Query, node: Node) -> Relation:
    child = plan(query, node["k"][0])
    results = node["o"]["aggregateExpressions"]
    inside = [inner for inner in nodes_in(results) if inner["c"] == "AggregateExpression"]
    child = with_scalars(query, [node["o"]["groupingExpressions"], inside], child, plan)
    above = {one["id"]: one for one in scalars_in(results) if one["id"] not in child.position}

    def widened(grouped: Plan) -> Plan:
        unnamed = Relation(grouped, tuple(-1 - i for i in range(len(grouped.schema))))
        return with_scalars(query, list(above.values()), unnamed, plan).plan

    schema, ids = output(query, node)
    grouped = aggregate(query, node, child.plan, child.position, schema, tuple(above), widened)
    return Relation(grouped, ids) if schema else without_columns(grouped)


def _join(query: Query, node: Node) -> Relation:
    """A scalar sub-query of the condition stands beside the left rows, and not in the output."""
    left, right = (plan(query, child) for child in node["k"])
    wide = with_scalars(query, node["o"]["condition"], left, plan)
    joined = join(query, node, wide, right)
    if wide is left:
        return joined
    kept = [i for i, id_ in enumerate(joined.ids) if id_ in left.position or id_ not in wide.position]
    columns, schema = columns_of_schema(joined.plan.schema), joined.plan.schema
    narrow = Project(joined.plan, tuple(columns[i] for i in kept), tuple(schema[i] for i in kept))
    return Relation(narrow, tuple(joined.ids[i] for i in kept))


def _as_of(query: Query, node: Node) -> Relation:
    return as_of(query, node, *(plan(query, child) for child in node["k"]))


def _set_operation(query: Query, node: Node) -> Relation:
    kind = node["op"].lower() + (" all" if node["o"]["isAll"] else "")
    if not all(query.is_a_value({"t": column[2]}) for column in node["k"][0]["out"]):
        cure = f"number equal rows by row_number() on both sides, and say {kind.upper().split()[0]}"
        raise query.refuse(node, f"{kind.upper()} along a collation; {cure}", node["op"].upper())
    left, right = (normalized_columns(query, node, plan(query, child).plan) for child in node["k"])
    schema, ids = output(query, node)
    if not schema:
        left, right = (without_columns(side).plan for side in (left, right))
        schema, ids = left.schema, (-1,)
    schema = with_windows(schema, declared_windows(left.schema), declared_windows(right.schema))
    return Relation(SetOperation(left, right, kind, schema), ids)


def _window(query: Query, node: Node) -> Relation:
    (below,) = node["k"]
    child, order = (plan(query, below), ()) if node["o"]["orderSpec"] else ordered(query, below, plan)
    aliases = computed(node)
    functions = [*filter(is_function, aliases)]
    relation = child
    if functions:
        schema, ids = _added(query, child, functions)
        relation = Relation(window(query, node, child.plan, child.position, schema, order), ids)
    if len(functions) < len(aliases):
        schema, ids = _added(query, child, aliases)
        kept = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(relation.plan.schema))
        values = (
            kept[relation.position[each["id"]]] if each in functions else expression(query, each["k"][0], {})
            for each in aliases
        )
        relation = Relation(Project(relation.plan, (*kept[: len(child.ids)], *values), schema), ids)
    return relation


def _added(query: Query, child: Relation, aliases: list[Node]) -> tuple[Schema, tuple[int, ...]]:
    """The relation's columns, and then these."""
    fields = (Field(alias["name"], query.value_type(alias), alias["n"]) for alias in aliases)
    return (*child.plan.schema, *fields), (*child.ids, *(alias["id"] for alias in aliases))


def _limit(query: Query, node: Node) -> Relation:
    return limit(query, node, plan)


_TRANSLATE: dict[str, Callable[[Query, Node], Relation]] = {
    "LogicalRDD": _scan,
    "LocalRelation": _values,
    "Range": _range,
    "OneRowRelation": _one_row,
    "Project": _project,
    "Filter": _filter,
    "Distinct": _distinct,
    "Union": _union,
    "UnionLoop": _levels,
    "UnionLoopRef": _level_before,
    "Expand": _expand,
    "Generate": _generate,
    "Aggregate": _aggregate,
    "Window": _window,
    "GlobalLimit": _limit,
    "Offset": _limit,
    "Join": _join,
    "AsOfJoin": _as_of,
    "Intersect": _set_operation,
    "Except": _set_operation,
}
