"""The path of each waterline: from the annotated column through every operator that passes it on, to the
traces whose rows it collects.

A line of a path says of an operator's rows `column >= bound`, or of a trace that its rows go once
`expression < bound`; bounds are spelled over the names of waterlines. What is mirrored on both sides
(`circuits/expressions/mirror.py`) is said of what it mirrors: `column <= bound`, `expression > bound`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.mirror import column_at, column_of, is_mirrored, mirrored
from dbsp.circuits.expressions.monotone import Bound
from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.circuits.progress.waterline import Lateness
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
    bounds = all_bounds(circuit)
    for i, node in enumerate(circuit.nodes):
        rows = tuple(Field(field.name, field.type) for field in node.schema)
        for key, bound in sorted(bounds[i].items()):
            yield Proof(i, spell_proof(key, bound, rows, circuit.lateness), _of(bound), False)
        retention = circuit.retentions.get(i)
        for readers in retention.readers if retention is not None else ():
            parts = [
                _compared(limit.expression, "<", limit.bounds, rows, circuit.lateness) for limit in readers
            ]
            yield Proof(
                i, " or ".join(parts), frozenset().union(*(_of(limit.bounds) for limit in readers)), True
            )


def spell_proof(key: int, bound: Bound, rows: Schema, lateness: Sequence[Lateness]) -> str:
    """What a bound says of a column of rows. key: ~i is of column i mirrored."""
    return _compared(column_at(key, rows[column_of(key)].type), ">=", bound, rows, lateness)


def _compared(
    value: Expression, operator: str, bound: Bound, rows: Schema, lateness: Sequence[Lateness]
) -> str:
    """A value beside the least of the bound's expressions, over waterlines' names."""
    names = tuple(Field(one.name, one.type) for one in lateness)
    least, over = "least", [_over_columns(expression, lateness) for expression in bound]
    if is_mirrored(value):
        value, over = mirrored(value), [mirrored(expression) for expression in over]
        operator, least = _TURNED[operator], "greatest"
    parts = [spell(expression, names) for expression in over]
    said = parts[0] if len(parts) == 1 else f"{least}({', '.join(parts)})"
    return f"{spell(value, rows)} {operator} {said}"


_TURNED = {"<": ">", ">=": "<="}


def _over_columns(bound: Expression, lateness: Sequence[Lateness]) -> Expression:
    """The bound with what a waterline says of its column, which it may be the mirror of."""
    if isinstance(bound, Column):
        return mirrored(bound) if lateness[bound.index].decreasing else bound
    if not isinstance(bound, Call):
        return bound
    arguments = tuple(_over_columns(argument, lateness) for argument in bound.arguments)
    return mirrored(arguments[0]) if is_mirrored(bound) else replace(bound, arguments=arguments)


def paths(circuit: Circuit, shown: Sequence[int]) -> Iterator[tuple[str, list[Proof]]]:
    """(waterline, its proofs at the nodes `shown`), for those that have any there."""
    found = [proof for proof in proofs(circuit) if proof.node in set(shown)]
    for position, one in enumerate(circuit.lateness):
        path = [proof for proof in found if position in proof.waterlines]
        if path:
            yield one.name, path


def _of(bound: Bound) -> frozenset[int]:
    return frozenset(column for expression in bound for column in columns_of(expression))
