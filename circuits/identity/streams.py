"""What a node's stream means, as digests: one of its rows, and one of each of its columns.

A stream's rows are made of rows of its inputs, and its columns are functions of them:

    rows(Source)      = H(table)                          column = H(table, name, type)
    rows(Map)         = rows of its input                 column = H(its expression over the input's columns)
    rows(Filter)      = H(input's rows, condition)        columns: the input's
    rows(Join)        = H(both inputs' rows, the columns compared)       column = H(side, the side's column)
    any other         = H(operator, inputs' rows and columns)            column = H(rows, position)

So what doesn't read a column doesn't depend on it, nor on its place: a column added to a table changes no
stream but those that have it. Equal digests are equal streams, in this and in later releases. The converse
isn't so; where it fails, something is computed anew that needn't be. Names of views, and who reads a stream,
aren't part of it. A recursion is digested as a whole: its nodes are spelled with a symbol in place of what
comes back, and then once more with the digest of all that does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbsp.circuits.expressions.nodes import Column, Expression, substitute
from dbsp.circuits.identity.canonical import Form, Forms, canonical_text, name_of
from dbsp.circuits.identity.operators import FORMS
from dbsp.circuits.operators.operator import Node, Operator

if TYPE_CHECKING:
    from dbsp.circuits.operators.generate import Generate
    from dbsp.circuits.operators.groups.combine_expanded import CombineExpanded
    from dbsp.circuits.operators.inputs.defaults import Defaults
    from dbsp.circuits.operators.inputs.formulas import Formulas
    from dbsp.circuits.operators.inputs.late import Frozen, Late, OnTime
    from dbsp.circuits.operators.inputs.tables import Upsert
    from dbsp.circuits.operators.inputs.waiting import Waiting
    from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
    from dbsp.circuits.operators.joins.join import Join
    from dbsp.circuits.operators.joins.semijoin import SemiJoin
    from dbsp.circuits.operators.linear import Constant, Filter, FlatMap, Map, Source
    from dbsp.circuits.operators.recursion import Loop

# of the rows and columns of a node, by those of its inputs
_Rule = Callable[[Any, Node, Sequence["Stream"]], "Stream"]


@dataclass(frozen=True)
class Stream:
    """The digests of a node's rows and of its columns."""

    rows: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """A column in an expression, known by its digest."""

    digest: str


_FORMS: Forms = {**FORMS, name_of(_Known): Form("known", ("digest",))}


def digest(*parts: object) -> str:
    """Of words, digests and whatever has a spelling."""
    return hashlib.blake2b(canonical_text(parts, _FORMS).encode(), digest_size=16).hexdigest()


def streams(nodes: Sequence[Node], loops: Sequence[Loop], known_as: Mapping[int, str]) -> tuple[Stream, ...]:
    """Of every node of a circuit. known_as: of some, the digest of their rows in place of their own."""
    returning = {
        node: f"returning {place}" for loop in loops for place, (_, node) in enumerate(loop.feedback)
    }
    for loop in loops:  # a later one may read what an earlier one makes
        found = _streams(nodes[: loop.body[-1] + 1], returning, known_as)
        whole = digest("loop", [(found[i].rows, found[i].columns) for i, _ in loop.feedback])
        for place, (_, node) in enumerate(loop.feedback):
            returning[node] = digest("returned", whole, place)
    return _streams(nodes, returning, known_as)


def _streams(
    nodes: Sequence[Node], returning: Mapping[int, str], known_as: Mapping[int, str]
) -> tuple[Stream, ...]:
    found: list[Stream] = []
    for i, node in enumerate(nodes):
        inputs = [found[j] for j in node.inputs]
        if i in returning:
            found.append(_by_position(node, digest("recurrence", node.operator, returning[i])))
        else:
            rule = _RULES.get(name_of(type(node.operator)), _any)
            found.append(rule(node.operator, node, inputs))
        if i in known_as:
            found[i] = replace(found[i], rows=known_as[i])
    return tuple(found)


def over(expression: Expression, columns: Sequence[str]) -> Expression:
    """The expression with the digests of columns in their places; only to be spelled."""
    return substitute(expression, lambda column: _Known(columns[column.index]))  # type: ignore[arg-type,return-value]


def computed(expression: Expression, columns: Sequence[str]) -> str:
    """The digest of a column that is computed of others."""
    if isinstance(expression, Column):
        return columns[expression.index]
    return digest("computed", over(expression, columns))


def source_rows(table: str) -> str:
    """Of a table's rows as they come in."""
    return digest("source", table)


def source_column(table: str, name: str, data_type: object) -> str:
    """Of a table's column as it comes in."""
    return digest("column", table, name, data_type)


def filled_column(given: str, value: str) -> str:
    """Of a column with a default in place of NULL. value: the digest of the default."""
    return digest("default", given, value)


def _by_position(node: Node, rows: str) -> Stream:
    return Stream(rows, tuple(digest(rows, i) for i in range(len(node.schema))))


def _any(operator: Operator, node: Node, inputs: Sequence[Stream]) -> Stream:
    taken = [(one.rows, one.columns) for one in inputs]
    return _by_position(node, digest("any", operator, taken))


def _same(operator: Operator, node: Node, inputs: Sequence[Stream]) -> Stream:
    return inputs[0]


def _source(operator: Source, node: Node, inputs: Sequence[Stream]) -> Stream:
    table = operator.table
    columns = tuple(source_column(table, field.name, field.type) for field in node.schema)
    return Stream(source_rows(table), columns)


def _constant(operator: Constant, node: Node, inputs: Sequence[Stream]) -> Stream:
    rows = operator.rows
    values = [list(map(repr, column.to_pylist())) for column in rows.columns]
    return _by_position(node, digest("constant", [field.type for field in rows.schema], values))


def _map(operator: Map, node: Node, inputs: Sequence[Stream]) -> Stream:
    taken = inputs[0].columns
    return Stream(inputs[0].rows, tuple(computed(e, taken) for e in operator.expressions))


def _filter(operator: Filter, node: Node, inputs: Sequence[Stream]) -> Stream:
    condition = over(operator.condition, inputs[0].columns)
    return Stream(digest("filter", inputs[0].rows, condition), inputs[0].columns)


def _flat_map(operator: FlatMap, node: Node, inputs: Sequence[Stream]) -> Stream:
    """A row becomes one of each projection; each column has one expression for each of them."""
    made = [[computed(e, inputs[0].columns) for e in each] for each in operator.projections]
    columns = tuple(digest("each", column) for column in zip(*made, strict=True))
    return Stream(digest("flat_map", inputs[0].rows, len(made)), columns)


def _generate(operator: Generate, node: Node, inputs: Sequence[Stream]) -> Stream:
    taken = inputs[0].columns
    elements = over(operator.elements, taken)
    rows = digest("generate", replace(operator, kept=(), elements=elements), inputs[0].rows)
    made = len(node.schema) - len(operator.kept)
    columns = (*(taken[i] for i in operator.kept), *(digest(rows, i) for i in range(made)))
    return Stream(rows, columns)


def _combine_expanded(operator: CombineExpanded, node: Node, inputs: Sequence[Stream]) -> Stream:
    """The projections are over what is shared, and accumulators over that and the arguments."""
    taken = inputs[0].columns
    shared = tuple(over(e, taken) for e in operator.shared)
    arguments = tuple(over(e, taken) for e in operator.arguments)
    rows = digest(replace(operator, shared=shared, arguments=arguments), inputs[0].rows)
    return _by_position(node, rows)


def _union(operator: Operator, node: Node, inputs: Sequence[Stream]) -> Stream:
    return united(inputs)


def united(inputs: Sequence[Stream]) -> Stream:
    """The sum of some streams, in any order."""
    if len(inputs) == 1:
        return inputs[0]
    inputs = sorted(inputs, key=lambda one: (one.rows, one.columns))
    columns = tuple(digest("either", column) for column in zip(*(one.columns for one in inputs), strict=True))
    return Stream(digest("union", [one.rows for one in inputs]), columns)


def _negate(operator: Operator, node: Node, inputs: Sequence[Stream]) -> Stream:
    return Stream(digest("negate", inputs[0].rows), inputs[0].columns)


def _join(operator: Join, node: Node, inputs: Sequence[Stream]) -> Stream:
    columns = tuple(_of_pairs(side, inputs[side].columns[i]) for side, i in operator.columns)
    left = [inputs[0].columns[i] for i in operator.left_key]
    right = [inputs[1].columns[i] for i in operator.right_key]
    residual = None if operator.residual is None else over(operator.residual, columns)
    return Stream(_pairs(inputs, left, right, residual), columns)


def _semi_join(operator: SemiJoin, node: Node, inputs: Sequence[Stream]) -> Stream:
    left = [inputs[0].columns[i] for i in operator.left_on]
    right = [inputs[1].columns[i] for i in operator.right_on]
    return _matched(inputs[0], operator.anti, inputs[1].rows, left, right)


def _compared_semi_join(operator: ComparedSemiJoin, node: Node, inputs: Sequence[Stream]) -> Stream:
    """a ⋉ b ON keys AND residual = a ⋉ π_a(a ⋈ b ON keys AND residual), by whose digests it is known."""
    a, b = inputs
    compared = _of_pairs(0, a.columns[operator.left_value]), _of_pairs(1, b.columns[-1])
    left = [a.columns[i] for i in operator.left_key]
    pairs = _pairs(inputs, left, [*b.columns[:-1]], over(operator.residual, compared))
    return _matched(a, operator.anti, pairs, [*a.columns], [_of_pairs(0, column) for column in a.columns])


def _pairs(inputs: Sequence[Stream], left: list[str], right: list[str], residual: Expression | None) -> str:
    return digest("join", inputs[0].rows, inputs[1].rows, left, right, residual)


def _of_pairs(side: int, column: str) -> str:
    return digest("of", side, column)


def _matched(stream: Stream, anti: bool, matches: str, left: list[str], right: list[str]) -> Stream:
    return Stream(digest("semi_join", anti, stream.rows, matches, left, right), stream.columns)


def _defaults(operator: Defaults, node: Node, inputs: Sequence[Stream]) -> Stream:
    columns = list(inputs[0].columns)
    for one in operator.defaults:
        columns[one.column] = filled_column(columns[one.column], digest(one.value))
    return Stream(inputs[0].rows, tuple(columns))


def _formulas(operator: Formulas, node: Node, inputs: Sequence[Stream]) -> Stream:
    taken = inputs[0].columns
    columns = list(taken)
    for one in operator.formulas:
        columns[one.column] = computed(one.value, taken)
    return Stream(inputs[0].rows, tuple(columns))


def _on_time(operator: OnTime, node: Node, inputs: Sequence[Stream]) -> Stream:
    watched = [(replace(one, column=0), inputs[0].columns[one.column]) for one in operator.lateness]
    return Stream(digest("on_time", inputs[0].rows, watched), inputs[0].columns)


def _late(operator: Late, node: Node, inputs: Sequence[Stream]) -> Stream:
    """Each row is told as it came, with the columns that its relation had then."""
    rows = digest("late", operator.relation, inputs[0].rows, inputs[1].rows)
    return _by_position(node, rows)


def _frozen(operator: Frozen, node: Node, inputs: Sequence[Stream]) -> Stream:
    rows = digest("frozen", operator.relation, inputs[0].rows, inputs[1].rows)
    return _by_position(node, rows)


def _waiting(operator: Waiting, node: Node, inputs: Sequence[Stream]) -> Stream:
    one, taken = operator.watermark, inputs[0].columns
    return Stream(digest("waiting", inputs[0].rows, replace(one, column=0), taken[one.column]), taken)


def _released(operator: Operator, node: Node, inputs: Sequence[Stream]) -> Stream:
    return Stream(digest("released", inputs[0].rows, inputs[1].rows), inputs[0].columns)


def keyed_rows(rows: str, key: Sequence[str], watched: Sequence[object] = ()) -> str:
    """Of a keyed table. rows, key: of its changes, and of the columns of its key."""
    return digest("upsert", rows, [*key], [*watched])


def _upsert(operator: Upsert, node: Node, inputs: Sequence[Stream]) -> Stream:
    taken = inputs[0].columns
    key = [taken[i] for i in operator.key]
    watched = [(replace(one, column=0), taken[one.column]) for one in operator.lateness]
    return Stream(keyed_rows(inputs[0].rows, key, watched), taken[:-1])


# by `name_of` operators
_RULES: dict[str, _Rule] = {
    # they put out what they take, or raise; and where rows lie says nothing of them
    "dbsp.circuits.operators.inputs.tables.AppendOnly": _same,
    "dbsp.circuits.operators.inputs.checks.Checks": _same,
    "dbsp.circuits.operators.inputs.tables.NonNegative": _same,
    "dbsp.circuits.operators.inputs.tables.OneOfEach": _same,
    "dbsp.circuits.operators.streams.Integrate": _same,
    "dbsp.circuits.operators.streams.Exchange": _same,
    "dbsp.circuits.operators.linear.Source": _source,
    "dbsp.circuits.operators.linear.Constant": _constant,
    "dbsp.circuits.operators.linear.Map": _map,
    "dbsp.circuits.operators.linear.Filter": _filter,
    "dbsp.circuits.operators.linear.FlatMap": _flat_map,
    "dbsp.circuits.operators.generate.Generate": _generate,
    "dbsp.circuits.operators.groups.combine_expanded.CombineExpanded": _combine_expanded,
    "dbsp.circuits.operators.linear.Union": _union,
    "dbsp.circuits.operators.linear.Negate": _negate,
    "dbsp.circuits.operators.joins.join.Join": _join,
    "dbsp.circuits.operators.joins.semijoin.SemiJoin": _semi_join,
    "dbsp.circuits.operators.joins.compared.ComparedSemiJoin": _compared_semi_join,
    "dbsp.circuits.operators.inputs.defaults.Defaults": _defaults,
    "dbsp.circuits.operators.inputs.formulas.Formulas": _formulas,
    "dbsp.circuits.operators.inputs.late.OnTime": _on_time,
    "dbsp.circuits.operators.inputs.late.Late": _late,
    "dbsp.circuits.operators.inputs.late.Frozen": _frozen,
    "dbsp.circuits.operators.inputs.tables.Upsert": _upsert,
    "dbsp.circuits.operators.inputs.waiting.Waiting": _waiting,
    "dbsp.circuits.operators.inputs.waiting.Released": _released,
}
