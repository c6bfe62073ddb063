"""The path of each waterline: from the annotated column through every operator that passes it on, to the
traces whose rows it collects.

A line of a path says of an operator's rows `column >= bound`, or of a trace that its rows go once
`expression < bound`; bounds are spelled over the names of waterlines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.monotone import Bound
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.shown.spelling import spell


@dataclass(frozen=True)
class Proof:
    """What waterlines prove at a node. collects: it's of rows that are dropped, not of rows to come."""

    node: int
    text: str
    waterlines: frozenset[int]
    collects: bool

    def __str__(self) -> str:
        return f"collects {self.text}" if self.collects else self.text


def proofs(circuit: Circuit) -> Iterator[Proof]:
    """In the circuit's order."""
    if not circuit.lateness:
        return
    waterlines = tuple(Field(one.name, one.type) for one in circuit.lateness)
    bounds = all_bounds(circuit)
    for i, node in enumerate(circuit.nodes):
        for column, bound in sorted(bounds[i].items()):
            text = f"{node.schema.names[column]} >= {spell_bound(bound, waterlines)}"
            yield Proof(i, text, _of(bound), False)
        retention = circuit.retentions.get(i)
        rows = tuple(Field(field.name, field.type) for field in node.schema)
        for readers in retention.readers if retention is not None else ():
            parts = [
                f"{spell(limit.expression, rows)} < {spell_bound(limit.bounds, waterlines)}"
                for limit in readers
            ]
            yield Proof(
                i, " or ".join(parts), frozenset().union(*(_of(limit.bounds) for limit in readers)), True
            )


def spell_bound(bound: Bound, waterlines: Schema) -> str:
    """The least of the bound's expressions, over waterlines' names."""
    parts = [spell(expression, waterlines) for expression in bound]
    return parts[0] if len(parts) == 1 else f"least({', '.join(parts)})"


def paths(circuit: Circuit, shown: Sequence[int]) -> Iterator[tuple[str, list[Proof]]]:
    """(waterline, its proofs at the nodes `shown`), for those that have any there."""
    found = [proof for proof in proofs(circuit) if proof.node in set(shown)]
    for position, one in enumerate(circuit.lateness):
        path = [proof for proof in found if position in proof.waterlines]
        if path:
            yield one.name, path


def _of(bound: Bound) -> frozenset[int]:
    return frozenset(column for expression in bound for column in columns_of(expression))
