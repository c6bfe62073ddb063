"""Keep only the columns that are read: traces hold what joins and aggregates need, and nothing else.

    need(π[e…](a)) = columns of the kept e      need(σ[c](a)) = need ∪ columns(c)
    need(a ⋈ b)    = need ∪ keys ∪ residual     need(γ[k; f](a)) = keys ∪ arguments of the kept f
    need(a ⋈ b as of) = need ∪ keys ∪ times
    need(distinct(a)) = need(a ∩ b) = all             need(a ∪ b) = need, in each
    need(τ[f](a)) = need ∪ columns(f)                 need(phases[f](a)) = need ∪ columns of the kept f
    need(ω[p; f](a)) = need ∪ p ∪ columns of the kept f          need(top[p; o](a)) = need ∪ p ∪ o

A Project is put where a narrower input changes what is stored or moved: under joins, aggregates and
DISTINCT. Linear operators read straight through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Column, Expression, columns_of, remap
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.conditions.clock_readings import CLOCK_COLUMN
from dbsp.sql.plans.plan import (
    Aggregate,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Levels,
    Plan,
    Project,
    Scan,
    SetOperation,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Values,
    Window,
    join_schema,
    unknown,
)
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.rules.expressions import changed, crossing, reordered

Position = dict[int, int]  # old column → new column


def prune(plan: Plan) -> Plan:
    everything = range(len(plan.schema))
    pruned, position = _prune(plan, set(everything))
    return select(pruned, [position[i] for i in everything], plan.schema)


def select(plan: Plan, columns: Sequence[int], schema: Schema | None = None) -> Plan:
    """The plan's columns in that order, under `schema`'s names; the plan itself where nothing changes."""
    schema = schema or tuple(plan.schema[i] for i in columns)
    if list(columns) == list(range(len(plan.schema))) and schema == plan.schema:
        return plan
    fields = [plan.schema[i] for i in columns]
    expressions = tuple(Column(i, f.type, f.nullable) for i, f in zip(columns, fields, strict=True))
    return Project(plan, expressions, schema)


def _narrow(plan: Plan, needed: set[int]) -> tuple[Plan, Position]:
    """Exactly the needed columns, in their order; one where none is needed, as rows have to be somewhere."""
    needed = needed or {0}
    pruned, position = _prune(plan, needed)
    kept = sorted(needed)
    return select(pruned, [position[i] for i in kept]), {old: new for new, old in enumerate(kept)}


def _prune(plan: Plan, needed: set[int]) -> tuple[Plan, Position]:  # noqa: PLR0912  a case a plan node
    """At least the needed columns of the plan, and where they are now; one where none is needed."""
    needed = needed or {0}
    match plan:
        case Scan():
            return plan, {i: i for i in range(len(plan.schema))}
        case Values():
            return _values(plan, needed)
        case Project():
            return _project(plan, needed)
        case Filter():
            below, position = _prune(plan.input, needed | set(columns_of(plan.condition)))
            return Filter(below, remap(plan.condition, position)), position
        case TemporalFilter():
            below, position = _narrow(plan.input, needed | _reads(b.value for b in plan.bounds))
            bounds = tuple(replace(b, value=remap(b.value, position)) for b in plan.bounds)
            return TemporalFilter(below, bounds), position
        case TimedProjection():
            return _phases(plan, needed)
        case Join() | AsOf():
            return _join(plan, needed)
        case Aggregate():
            return _aggregate(plan, needed)
        case Distinct() | Levels():
            return _whole(plan)
        case SetOperation():
            everything = set(range(len(plan.schema)))
            left, right = (_narrow(side, everything)[0] for side in (plan.left, plan.right))
            return replace(plan, left=left, right=right), {i: i for i in everything}
        case Union():
            return _union(plan, needed)
        case Expand():
            return _expand(plan, needed)
        case Generate():
            return _generate(plan, needed)
        case Window():
            return _window(plan, needed)
        case Top():
            return _top(plan, needed)
        case _:
            raise unknown(plan, "which columns it needs")


def _kept(needed: set[int]) -> tuple[list[int], Position]:
    order = sorted(needed)
    return order, {old: new for new, old in enumerate(order)}


def _reads(expressions: Iterable[Expression]) -> set[int]:
    return {column for expression in expressions for column in columns_of(expression)}


def _values(plan: Values, needed: set[int]) -> tuple[Plan, Position]:
    kept, position = _kept(needed)
    rows = tuple(tuple(row[i] for i in kept) for row in plan.rows)
    return Values(rows, tuple(plan.schema[i] for i in kept)), position


def _project(plan: Project, needed: set[int]) -> tuple[Plan, Position]:
    kept, position = _kept(needed)
    expressions = [plan.expressions[i] for i in kept]
    below, moved = _prune(plan.input, _reads(expressions))
    schema = tuple(plan.schema[i] for i in kept)
    return Project(below, tuple(remap(e, moved) for e in expressions), schema), position


def _phases(plan: TimedProjection, needed: set[int]) -> tuple[Plan, Position]:
    """Values that nobody reads are left out; what they change by may stay."""
    width = len(plan.input.schema)
    kept = [i for i in range(len(plan.expressions)) if width + i in needed]
    timed = [plan.expressions[i] for i in kept] + ([] if plan.condition is None else [plan.condition])
    if not timed:
        return _prune(plan.input, needed)
    read = _reads([*timed, *(c.value for c in plan.changes.crossings)]) - {CLOCK_COLUMN}
    below, position = _narrow(plan.input, {i for i in needed if i < width} | read)
    at = {**position, CLOCK_COLUMN: CLOCK_COLUMN}
    pruned = replace(
        plan,
        input=below,
        changes=crossing(plan.changes, lambda e: remap(e, position)),
        expressions=tuple(remap(plan.expressions[i], at) for i in kept),
        condition=None if plan.condition is None else remap(plan.condition, at),
        schema=(*below.schema, *(plan.schema[width + i] for i in kept)),
    )
    moved = {width + i: len(below.schema) + n for n, i in enumerate(kept)}
    return pruned, position | moved


def _join(plan: Join | AsOf, needed: set[int]) -> tuple[Plan, Position]:
    width = len(plan.left.schema)
    of_left, of_right = _reads(plan.left_keys), _reads(plan.right_keys)
    of_pairs = needed
    if isinstance(plan, AsOf):
        of_left, of_right = of_left | _reads([plan.left_time]), of_right | _reads([plan.right_time])
    else:
        if plan.kind in ("semi", "anti", "existence"):
            of_pairs = {i for i in needed if i < width}
        if plan.residual is not None:
            of_pairs = of_pairs | _reads([plan.residual])
    left, left_position = _narrow(plan.left, {i for i in of_pairs if i < width} | of_left)
    right, right_position = _narrow(plan.right, {i - width for i in of_pairs if i >= width} | of_right)
    position = left_position | {old + width: new + len(left.schema) for old, new in right_position.items()}
    joined = replace(
        plan,
        left=left,
        right=right,
        left_keys=tuple(remap(key, left_position) for key in plan.left_keys),
        right_keys=tuple(remap(key, right_position) for key in plan.right_keys),
        schema=join_schema(plan.kind, left.schema, right.schema),
    )
    if isinstance(joined, AsOf):
        left_time, right_time = (
            remap(joined.left_time, left_position),
            remap(joined.right_time, right_position),
        )
        joined = replace(joined, left_time=left_time, right_time=right_time)
    elif joined.residual is not None:
        joined = replace(joined, residual=remap(joined.residual, position))
    return joined, position | ({width: len(left.schema)} if plan.kind == "existence" else {})


def _aggregate(plan: Aggregate, needed: set[int]) -> tuple[Plan, Position]:
    """Keys stay: they are what a group is. So does one aggregate, where there would be none."""
    keys = len(plan.keys)
    kept, position = _kept(needed | set(range(keys)))
    if len(kept) == keys and plan.aggregates:
        kept, position = _kept({*kept, keys})
    calls = [plan.aggregates[i - keys] for i in kept[keys:]]
    read = _reads(plan.keys) | {column for call in calls for column in _reads(_parts(call))}
    below, moved = _narrow(plan.input, read)
    return (
        Aggregate(
            below,
            tuple(remap(key, moved) for key in plan.keys),
            tuple(_moved(call, moved) for call in calls),
            tuple(plan.schema[i] for i in kept),
        ),
        position,
    )


def _parts(call: AggregateCall) -> tuple[Expression, ...]:
    return call.arguments if call.filter is None else (*call.arguments, call.filter)


def _moved(call: AggregateCall, position: Position) -> AggregateCall:
    arguments = tuple(remap(argument, position) for argument in call.arguments)
    filter_ = None if call.filter is None else remap(call.filter, position)
    return replace(call, arguments=arguments, filter=filter_)


def _union(plan: Union, needed: set[int]) -> tuple[Plan, Position]:
    kept, position = _kept(needed)
    inputs = tuple(_narrow(input_, needed)[0] for input_ in plan.inputs)
    return Union(inputs, tuple(plan.schema[i] for i in kept)), position


def _whole(plan: Distinct | Levels) -> tuple[Plan, Position]:
    """All columns make a row distinct; and a recursive term may read what nobody else does."""
    everything = set(range(len(plan.schema)))
    if isinstance(plan, Distinct):
        below, position = _narrow(plan.input, everything)
        return Distinct(below), position
    anchor, position = _narrow(plan.anchor, everything)
    return replace(plan, anchor=anchor, term=_narrow(plan.term, everything)[0]), position


def _expand(plan: Expand, needed: set[int]) -> tuple[Plan, Position]:
    kept, position = _kept(needed)
    projections = [[row[i] for i in kept] for row in plan.projections]
    below, moved = _prune(plan.input, {column for row in projections for column in _reads(row)})
    rows = tuple(tuple(remap(expression, moved) for expression in row) for row in projections)
    return Expand(below, rows, tuple(plan.schema[i] for i in kept)), position


def _generate(plan: Generate, needed: set[int]) -> tuple[Plan, Position]:
    """What was generated stays. The list isn't kept beside its elements, unless it is read."""
    width = len(plan.kept)
    kept = [i for i in range(width) if i in needed]
    made = range(width, len(plan.schema))
    # a relation needs a column, for its rows to be somewhere
    below, moved = _prune(plan.input, {plan.kept[i] for i in kept} | _reads([plan.elements]) or {0})
    pruned = replace(
        plan,
        input=below,
        kept=tuple(moved[plan.kept[i]] for i in kept),
        elements=remap(plan.elements, moved),
        schema=tuple(plan.schema[i] for i in (*kept, *made)),
    )
    return pruned, {old: new for new, old in enumerate((*kept, *made))}


def _window(plan: Window, needed: set[int]) -> tuple[Plan, Position]:
    """Without any function that is read it is its input."""
    width = len(plan.input.schema)
    kept = [i for i in range(len(plan.calls)) if width + i in needed]
    if not kept:
        return _prune(plan.input, needed)
    calls = [plan.calls[i] for i in kept]
    read = _reads([*plan.partition, *(e for call in calls for e in call.expressions)])
    below, moved = _narrow(plan.input, {i for i in needed if i < width} | read)
    position = moved | {width + i: len(below.schema) + at for at, i in enumerate(kept)}
    pruned = Window(
        below,
        tuple(remap(key, moved) for key in plan.partition),
        tuple(changed(call, lambda e: remap(e, moved)) for call in calls),
        (*below.schema, *(plan.schema[width + i] for i in kept)),
    )
    return pruned, position


def _top(plan: Top, needed: set[int]) -> tuple[Plan, Position]:
    width = len(plan.input.schema)
    below, position = _narrow(plan.input, {i for i in needed if i < width} | _reads(plan.expressions))
    schema = below.schema
    if plan.ranked and width in needed:
        position = position | {width: len(schema)}
        schema = (*schema, plan.schema[width])
    pruned = replace(
        plan,
        input=below,
        partition=tuple(remap(key, position) for key in plan.partition),
        order=reordered(plan.order, lambda e: remap(e, position)),
        ranked=len(schema) > len(below.schema),
        schema=schema,
    )
    return pruned, position
