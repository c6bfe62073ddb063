"""What came too late goes on where tables with LATENESS are gone: the log without their rows.

Which rows were late follows from the order in which all came, and can't be computed again.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.inputs.late import LATE_ROWS, LATE_SCHEMA, Frozen, Late
from dbsp.evolution.given import Given, Holdings
from dbsp.state.records.manifest import Manifest


@dataclass(frozen=True)
class LateBefore:
    """node: puts out the rows of `late_rows`. given: those that were there. relations: whose go on."""

    node: int
    given: Given
    relations: tuple[str, ...]

    @property
    def condition(self) -> Expression:
        """Of a row that goes on."""
        relation = Column(LATE_SCHEMA.get_field_index("relation"), pa.string())
        members = [Literal(name, pa.string()) for name in self.relations]
        return Call("in", (relation, *members), pa.bool_(), nullable=True)


def late_before(circuit: Circuit, new: Manifest, old: Manifest, holdings: Holdings) -> LateBefore | None:
    """None: nothing was late before, or it isn't known that what is called late is what was.

    Of a table it is, if its columns and LATENESS are what they were; of a view it isn't.
    """
    now, was = new.views.get(LATE_ROWS), old.views.get(LATE_ROWS)
    if now is None or was is None:
        return None
    node = circuit.output(LATE_ROWS).node
    operators = [circuit.nodes[i].operator for i in circuit.nodes[node].inputs]
    relations = {one.relation for one in operators if isinstance(one, Late | Frozen)} - (
        new.tables.keys() - old.tables.keys()
    )
    for name in relations:
        before, table = old.tables.get(name), new.tables.get(name)
        if before is None or table is None or before.lateness != table.lateness:
            return None
        if before.fields != table.fields:
            return None
    columns = tuple(range(len(LATE_SCHEMA)))
    for kept in holdings.kept:
        if kept.name == was.kept:
            return LateBefore(node, Given(kept, columns, LATE_SCHEMA), tuple(sorted(relations)))
    return None
