"""A view's plan for people: its operators with what a step costs, and the key that tells its rows apart."""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Emission, Program, Triggers, View
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.sql.plans.schemas import Key
from dbsp.sql.plans.shown.paths import spell_proof
from dbsp.sql.plans.shown.spelling import spell_columns

_KINDS = {"view": "view", "local": "local view", "materialized": "materialized view"}


def explain_view(program: Program, name: str) -> str:
    """Several lines; an operator stands above its inputs."""
    view = program.views[name]
    lines = [
        f"{_KINDS[view.kind]} {view.name} ({spell_columns(view.schema)})",
        f"  stream key: {spell_key(view, view_keys(program)[name])}",
        f"  rows: {_cardinality(view, view_keys(program)[name])}",
        *_placed(program, name),
        *([f"  emitted: {spell_emission(view.emission)}"] if view.emission is not None else []),
        *_tree(view.plan, "  "),
    ]
    return "".join(f"{line}\n" for line in lines)


def _cardinality(view: View, key: Key) -> str:
    """How many, and whether any is taken back."""
    if key is not None and not key:
        return "one at most, which is replaced"
    return "only added" if view.append_only else "added and taken back"


def _placed(program: Program, name: str) -> Iterator[str]:
    """What waterlines say of its rows, and by which columns they lie in partitions; of what is kept of it."""
    circuit = program.circuit
    for output in circuit.outputs:
        if output.view == name:
            node = circuit.nodes[output.kept]
            bounds = sorted(all_bounds(circuit)[output.node].items())
            schema = program.views[name].schema
            names = [column.name for column in schema]
            if bounds:
                said = (spell_proof(key, bound, schema, circuit.lateness) for key, bound in bounds)
                yield f"  event time: {', '.join(said)}"
            by = ", ".join(names[i] for i in node.placement or ())
            yield f"  partitions: {'by ' + by if by else 'as they come' if node.placement is None else 'one'}"


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
            since = "first record that waits" if emission.paced else "last record"
            members.append(f"{_duration(emission.delay)} after a key's {since}")
        if emission.waterline:
            members.append(f"{'once, ' if emission.once else ''}when the waterline has passed a key")
        return ", ".join(members)
    rate = f"{emission.rows} records" if emission.every is None else _duration(emission.every)
    if emission.rate_only:
        return f"each {rate} of a key; of a window, when it is complete"
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
    lines = [indent + plan.spelled + (f"   [{plan.cost}]" if plan.cost else "")]
    for input_ in plan.inputs:
        lines += _tree(input_, indent + "  ")
    return lines
