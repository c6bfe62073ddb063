"""Group by the fields of a struct that is made just for the grouping, and by no field another one determines.

    γ[struct(a: e, b: f); …] = π[struct(#0, #1), …](γ[e, f; …])
    γ[s, s + constant; …]    = π[#0, #0 + constant, …](γ[s; …])

So a window's group is one timestamp instead of a struct of two; also beside ROLLUP and CUBE, which stand
between the struct and the grouping. A DISTINCT is a grouping by all columns, without aggregates.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.nodes import Aggregate, Distinct, Expand, Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.traverse import bottom_up


def struct_keys(plan: Plan) -> Plan:
    return bottom_up(plan, _split)


def _split(node: Plan) -> Plan:
    if isinstance(node, Distinct) and isinstance(node.input, (Project, Expand)):
        keys = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(node.schema))
        grouped = Aggregate(node.input, keys, (), node.schema)
        split = _split(grouped)
        return node if split is grouped else _distinct(split)
    if not (isinstance(node, Aggregate) and isinstance(node.input, (Project, Expand))):
        return node
    for index, key in enumerate(node.keys):
        if isinstance(key, Column):
            below = _made_above(node.input, key.index)
            structs = _structs(below, key.index)
            if structs:
                return _grouped_by_fields(node, below, index, key.index, structs)
    return node


def _distinct(split: Plan) -> Plan:
    """What was split as a grouping without aggregates, as the DISTINCT that it is."""
    if isinstance(split, Project):
        return replace(split, input=_distinct(split.input))
    assert isinstance(split, Aggregate)
    return Distinct(Project(split.input, split.keys, split.schema))


def _made_above(below: Project | Expand, column: int) -> Project | Expand:
    """The rows of an Expand with a struct that the Project below it made for all of them."""
    rows = below.projections if isinstance(below, Expand) else ()
    project = below.input
    made = {row[column] for row in rows}
    one = made.pop() if len(made) == 1 else None
    if not (isinstance(below, Expand) and isinstance(project, Project) and isinstance(one, Column)):
        return below
    struct = project.expressions[one.index]
    if not (isinstance(struct, Call) and struct.function == "create_named_struct"):
        return below
    fields = struct.arguments[1::2]
    width = len(project.schema)
    kept: list[Expression] = []
    values: list[Expression] = []
    for i, field in enumerate(fields):
        end = _offset([fields[0]], [field]) if i else None
        if end is None:
            values.append(Column(width + len(kept), field.type, field.nullable))
            kept.append(field)
        else:
            assert isinstance(values[0], Column)
            values.append(_shifted(values[0], end))
    names = (Field(struct.type.field(i).name, e.type, e.nullable) for i, e in enumerate(kept))
    wide = Project(project.input, (*project.expressions, *kept), (*project.schema, *names))
    parts = zip(struct.arguments[::2], values, strict=True)
    again = replace(struct, arguments=tuple(part for pair in parts for part in pair))
    return replace(
        below, input=wide, projections=tuple((*row[:column], again, *row[column + 1 :]) for row in rows)
    )


def _structs(below: Project | Expand, column: int) -> list[Call] | None:
    """The struct constructors behind a column, one per projection, where there is nothing else."""
    rows = (below.expressions,) if isinstance(below, Project) else below.projections
    made = [row[column] for row in rows]
    calls = [e for e in made if isinstance(e, Call) and e.function == "create_named_struct"]
    return calls if len(calls) == len(made) else None


def _grouped_by_fields(
    node: Aggregate, below: Project | Expand, key: int, column: int, structs: list[Call]
) -> Plan:
    """Append the fields to what is grouped, group by them in place of the struct, and make it again above."""
    count = len(structs[0].arguments) // 2
    fields = [[struct.arguments[2 * i + 1] for struct in structs] for i in range(count)]
    offset = [_offset(fields[0], field) if i else None for i, field in enumerate(fields)]
    kept = [i for i in range(count) if offset[i] is None]
    width = len(below.schema)
    added = tuple(
        Field(structs[0].type.field(i).name, fields[i][0].type, any(f.nullable for f in fields[i]))
        for i in kept
    )
    keys = tuple(Column(width + i, field.type, field.nullable) for i, field in enumerate(added))
    grouped = Aggregate(
        _extended(below, [fields[i] for i in kept], added),
        (*node.keys[:key], *keys, *node.keys[key + 1 :]),
        node.aggregates,
        (*node.schema[:key], *added, *node.schema[key + 1 :]),
    )
    above = [Column(i, field.type, field.nullable) for i, field in enumerate(grouped.schema)]
    made = above[key : key + len(kept)]
    values: list[Expression] = [
        made[kept.index(i)] if end is None else _shifted(made[0], end) for i, end in enumerate(offset)
    ]
    names = structs[0].arguments[::2]
    struct = replace(
        structs[0], arguments=tuple(part for pair in zip(names, values, strict=True) for part in pair)
    )
    results: tuple[Expression, ...] = (*above[:key], struct, *above[key + len(kept) :])
    return Project(_split(grouped), results, node.schema)


def _extended(below: Project | Expand, fields: list[list[Expression]], added: tuple[Field, ...]) -> Plan:
    schema = (*below.schema, *added)
    if isinstance(below, Project):
        return Project(below.input, (*below.expressions, *(field[0] for field in fields)), schema)
    projections = tuple((*row, *(field[i] for field in fields)) for i, row in enumerate(below.projections))
    return Expand(below.input, projections, schema)


def _offset(first: list[Expression], other: list[Expression]) -> Call | None:
    """other = first + constant in every projection, both in microseconds: that addition, else None."""
    found: list[Call] = []
    for start, end in zip(first, other, strict=True):
        if not _is_conversion(end):
            return None
        assert isinstance(end, Call)
        sum_ = end.arguments[0]
        if not (isinstance(sum_, Call) and sum_.function == "add" and isinstance(sum_.arguments[1], Literal)):
            return None
        if sum_.arguments[0] != _in_microseconds(start, sum_.type):
            return None
        found.append(replace(end, arguments=(sum_,)))
    if len({call.arguments[0].arguments[1] for call in found if isinstance(call.arguments[0], Call)}) != 1:
        return None
    return found[0]


def _in_microseconds(start: Expression, number: pa.DataType) -> Expression:
    if isinstance(start, Call) and _is_conversion(start):
        return start.arguments[0]
    return Call("precise_timestamp_conversion", (start,), number, start.nullable)


def _is_conversion(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "precise_timestamp_conversion"


def _shifted(start: Column, end: Call) -> Expression:
    """`end` over the grouped start instead of the expression it was made of."""
    sum_ = end.arguments[0]
    assert isinstance(sum_, Call)
    microseconds = Call("precise_timestamp_conversion", (start,), sum_.type, start.nullable)
    return replace(end, arguments=(replace(sum_, arguments=(microseconds, sum_.arguments[1])),))
