"""A program as the one before it would know it: a table is declared otherwise, and what it holds is the same.

    LATENESS      what was taken so far is what it is, and a waterline never goes back; what comes from now
                  on is taken or left by the new one
    PRIMARY KEY   a table's rows are the same rows, if no two of them have the same key

So streams are known by the digests that they would have under the old declarations, and go on with the traces
of those. That says nothing of rows to come, which the new program's own operators decide about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.identity.streams import digest, keyed_rows, source_rows
from dbsp.circuits.operators.inputs.tables import Upsert
from dbsp.circuits.operators.operator import Node
from dbsp.circuits.progress.waterline import Lateness
from dbsp.sql.plans.program import Program
from dbsp.state.records.manifest import Manifest, amount_of


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
        if name in old.tables and old.tables[name].key != table.primary_key
        if can_be_rekeyed(circuit, old, name)
    )
    contents = {name: _contents(circuit, name, bool(program.inputs[name].primary_key)) for name in rekeyed}
    known = replace(
        circuit,
        nodes=tuple(_with(node, lateness) for node in circuit.nodes),
        lateness=tuple(lateness[one.name] for one in circuit.lateness),
        known_as={node: _rows_of(name, old) for name, node in contents.items()},
    )
    checked = frozenset(node for name, node in contents.items() if program.inputs[name].primary_key)
    return Known(replace(program, circuit=known), rekeyed, checked)


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


def _with(node: Node, lateness: dict[str, Lateness]) -> Node:
    operator = node.operator
    if not any(field.name == "lateness" for field in fields(operator)):  # type: ignore[arg-type]
        return node
    own = operator.lateness  # type: ignore[attr-defined]
    if isinstance(own, Lateness):
        return node  # of a percentile
    now = tuple(replace(lateness[one.name], column=one.column) for one in own)
    return replace(node, operator=replace(operator, lateness=now))  # type: ignore[type-var]


def _contents(circuit: Circuit, table: str, keyed: bool) -> int:
    """The node that puts out a table's rows."""
    if not keyed:
        return circuit.sources[table]
    return next(
        i for i, node in enumerate(circuit.nodes) if isinstance(node.operator, Upsert) and node.name == table
    )


def _rows_of(table: str, old: Manifest) -> str:
    """The digest of a table's rows, as it was, without LATENESS."""
    columns, rows = old.tables[table], source_rows(table)
    return keyed_rows(rows, [columns.column(table, name) for name in columns.key]) if columns.key else rows
