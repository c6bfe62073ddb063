"""A program as the one before it would know it: what is declared otherwise, though what is held is the same.

    LATENESS      what was taken so far is what it is, and a waterline never goes back; what comes from now
                  on is taken or left by the new one
    PRIMARY KEY   a table's rows are the same rows, if no two of them have the same key
    TRIGGER       what waits to leave a view waits on, until when it would have left; what comes from now on
                  waits for as many records, or as long, as the new one says

So streams are known by the digests that they would have under the old declarations, and go on with the traces
of those. That says nothing of rows to come, which the new program's own operators decide about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.identity.streams import digest, keyed_rows, source_rows
from dbsp.circuits.operators.emission.timers import After, Timers
from dbsp.circuits.operators.emission.trigger import Passed, Schedule
from dbsp.circuits.operators.inputs.tables import Upsert
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.operators.operator import Node, Operator
from dbsp.circuits.progress.waterline import Lateness
from dbsp.sql.plans.program import Program, Table
from dbsp.state.records.manifest import Columns, Manifest, amount_of, triggers_of


@dataclass(frozen=True)
class Known:
    """program: with a circuit of the same nodes, under the old names. rekeyed: tables with another key.

    checked: the nodes of those that have one, by which their rows must be apart.
    """

    program: Program
    rekeyed: frozenset[str]
    checked: frozenset[int]


def known_before(program: Program, old: Manifest) -> Known:
    """As the program that has kept `old` would know it."""
    circuit = program.circuit
    lateness = {one.name: _before(one, old) for one in circuit.lateness}
    rekeyed = frozenset(
        name
        for name, table in program.inputs.items()
        if name in old.tables and has_another_key(table, old.tables[name])
        if can_be_rekeyed(circuit, old, name)
    )
    contents = {name: _contents(circuit, name, bool(program.inputs[name].primary_key)) for name in rekeyed}
    known = replace(
        circuit,
        nodes=_with_triggers(circuit, tuple(_with(node, lateness) for node in circuit.nodes), old),
        lateness=tuple(lateness[one.name] for one in circuit.lateness),
        known_as={node: rows_of(name, old) for name, node in contents.items()},
    )
    checked = frozenset(node for name, node in contents.items() if program.inputs[name].primary_key)
    return Known(replace(program, circuit=known), rekeyed, checked)


def has_another_key(table: Table, old: Columns) -> bool:
    """Of other columns, or of wider ones: by either a row is found otherwise."""
    types = {column.name: column.type for column in table.schema}
    return old.key != table.primary_key or any(old.fields[key].type != types[key] for key in old.key)


def can_be_rekeyed(circuit: Circuit, old: Manifest, table: str) -> bool:
    """Whether nothing but the key tells what a table holds: by LATENESS changes of keys are left out."""
    has = any(_relation(one.name) == table for one in circuit.lateness)
    return not has and old.tables[table].lateness == digest([])


def is_late_otherwise(program: Program, old: Manifest, table: str) -> bool:
    """Whether a table's LATENESS differs by more than amounts: by its columns, or how waterlines rise."""

    def own(lateness: Iterator[str]) -> set[str]:
        return {name for name in lateness if _relation(name) == table}

    now = program.circuit.lateness
    return own(iter(old.lateness)) != own(one.name for one in now) or any(
        one.percentile is not None for one in now if _relation(one.name) == table
    )


def _relation(waterline: str) -> str:
    return waterline.rpartition(".")[0]


def _before(one: Lateness, old: Manifest) -> Lateness:
    if one.name not in old.lateness or one.percentile is not None:
        return one
    amount, jump = map(amount_of, old.lateness[one.name])
    assert amount is not None
    return replace(one, amount=amount, jump=jump)


def _with(node: Node, lateness: Mapping[str, Lateness]) -> Node:
    operator = _told(node.operator, lateness)
    return node if operator is node.operator else replace(node, operator=operator)


def _told(value: Any, lateness: Mapping[str, Lateness]) -> Any:
    """An operator, or a part of one, that knows of other waterlines' LATENESS."""
    if isinstance(value, Lateness):
        return replace(lateness[value.name], column=value.column) if value.name in lateness else value
    if isinstance(value, tuple):
        told = tuple(_told(one, lateness) for one in value)
        return value if all(one is was for one, was in zip(told, value, strict=True)) else told
    if not isinstance(value, (Operator, Threshold, Passed, Schedule)):
        return value
    parts = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
    other = {name: told for name, part in parts.items() if (told := _told(part, lateness)) is not part}
    return replace(value, **other) if other else value  # type: ignore[type-var]


def _with_triggers(circuit: Circuit, nodes: tuple[Node, ...], old: Manifest) -> tuple[Node, ...]:
    """With the old numbers of records, and delays."""
    found = list(nodes)
    for view, (node, trigger) in triggers_of(circuit).items():
        counting, delay = old.triggers.get(view, (None, None))
        if (counting is None, delay is None) != (trigger.counting is None, trigger.delay is None):
            continue
        found[node] = replace(found[node], operator=replace(trigger, counting=counting, delay=delay))
        for agenda in nodes[node].inputs[trigger.timers]:
            timers = found[agenda].operator
            if isinstance(timers, Timers) and isinstance(timers.instants, After) and delay is not None:
                found[agenda] = replace(found[agenda], operator=replace(timers, instants=After(delay)))
    return tuple(found)


def _contents(circuit: Circuit, table: str, keyed: bool) -> int:
    """The node that puts out a table's rows."""
    if not keyed:
        return circuit.sources[table]
    return next(
        i for i, node in enumerate(circuit.nodes) if isinstance(node.operator, Upsert) and node.name == table
    )


def rows_of(table: str, old: Manifest) -> str:
    """The digest of a table's rows, as it was, without LATENESS."""
    columns, rows = old.tables[table], source_rows(table)
    return keyed_rows(rows, [columns.column(table, name) for name in columns.key]) if columns.key else rows
