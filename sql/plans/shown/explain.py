"""A view's plan for people: its operators with what a step costs, and the key that tells its rows apart."""

from __future__ import annotations

from dbsp.circuits.expressions.predicates import conjuncts
from dbsp.sql.plans.conditions.bands import interval_bounds, value_bounds
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
    unknown,
)
from dbsp.sql.plans.program import Emission, Program, Triggers, View
from dbsp.sql.plans.properties.keys import Key, view_keys
from dbsp.sql.plans.shown.spelling import spell_columns, spell_node
from dbsp.sql.plans.verify import inputs

_KINDS = {"view": "view", "local": "local view", "materialized": "materialized view"}


def explain_view(program: Program, name: str) -> str:
    """Several lines; an operator stands above its inputs."""
    view = program.views[name]
    lines = [
        f"{_KINDS[view.kind]} {view.name} ({spell_columns(view.schema)})",
        f"  stream key: {spell_key(view, view_keys(program)[name])}",
        *([f"  emitted: {spell_emission(view.emission)}"] if view.emission is not None else []),
        *_tree(view.plan, "  "),
    ]
    return "".join(f"{line}\n" for line in lines)


def spell_key(view: View, key: Key) -> str:
    """key: as `view_keys` has it."""
    if key is None:
        return "a row id: rows are only added" if view.append_only else "the whole row, counted"
    return ", ".join(view.schema[column].name for column in key) or "none needed: one row at most"


def spell_emission(emission: Emission) -> str:
    """Relative to the end of the window, where that decides."""
    if isinstance(emission, Triggers):
        members = [] if emission.counting is None else [f"each {emission.counting} records of a key"]
        if emission.delay is not None:
            members.append(f"{_duration(emission.delay)} after a key's last record")
        if emission.waterline:
            members.append(f"{'once, ' if emission.once else ''}when the waterline has passed a key")
        return ", ".join(members)
    rate = f"{emission.rows} records" if emission.every is None else _duration(emission.every)
    early = f"from {_duration(emission.first)} each {rate}, " if emission.first < emission.complete else ""
    late = f", late ones to {_duration(emission.last)}" if emission.late else ""
    return f"{early}complete at {_duration(emission.complete)}{late}"


def _duration(microseconds: int) -> str:
    seconds = microseconds / 1_000_000
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds and not seconds % unit:
            return f"{seconds / unit:g} {name}"
    return f"{seconds:g} s"


def _tree(plan: Plan, indent: str) -> list[str]:
    price = cost(plan)
    lines = [indent + spell_node(plan) + (f"   [{price}]" if price else "")]
    for input_ in inputs(plan):
        lines += _tree(input_, indent + "  ")
    return lines


def cost(plan: Plan) -> str:  # noqa: PLR0912  a case a plan node
    """What one step costs, by the size of the change."""
    match plan:
        case TemporalFilter():
            return "changed rows, and those that the clock passes"
        case TimedProjection():
            crossed = "changed rows, and those that the clock passes"
            everything = ", ".join(str(e).replace("#0", "now()") for e in plan.changes.readings)
            return crossed + (f", and all rows when {everything} changes" if everything else "")
        case Join():
            return _cost_of_join(plan)
        case AsOf():
            return "lookup of the nearest row, and of the rows until the next, two traces"
        case Aggregate():
            return "touched groups"
        case Window():
            return "touched partitions"
        case Top():
            return f"touched partitions, the first {plan.size} rows of each"
        case SetOperation():
            return "lookup of changed rows, two traces"
        case Distinct():
            return "lookup of changed rows, one trace"
        case Levels():
            return "what changes in each level"
        case Scan():
            return ""
        case Values() | Project() | Filter() | Union() | Expand() | Generate():
            return "linear"
        case _:
            raise unknown(plan, "what a step costs")


def _cost_of_join(plan: Join) -> str:
    looked_up = "changed keys" if plan.left_keys else ""
    parts, width = conjuncts(plan.residual), len(plan.left.schema)
    sides = [value_bounds(parts, width, right) for right in (False, True)]
    bounded = [side for side in sides if side is not None]
    if bounded:
        intervals = [interval_bounds(parts, width, right) for right in (False, True)]
        closed = all(
            (side.lower and side.upper) or interval
            for side, interval in zip(sides, intervals, strict=True)
            if side
        )
        looked_up = f"a {'' if closed else 'half-open '}range{' of ' if looked_up else ''}{looked_up}"
    if not looked_up:
        return "changed rows by all rows of the other side, two traces"
    return f"lookup of {looked_up}, two traces"
