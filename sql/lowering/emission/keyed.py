"""A view by its stream key, while its emission is lowered: the key's values, what its trigger asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dbsp.circuits.expressions.monotone import Bound
from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, remap
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.emission.timers import Timers
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.operators.linear import Filter, Map
from dbsp.circuits.operators.streams import Broadcast, Exchange, Integrate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Windows


@dataclass(frozen=True)
class KeyValue:
    """A column of the key, or a field of one that is a struct.

    over_key: over the key's columns. made: the same over the columns of a node. window: what it says of
    windows of time.
    """

    over_key: Expression
    made: Expression
    node: int
    window: Windows | None


@dataclass
class Keyed:
    """node: the view's stream. records: the node of its key's records. agendas, proofs: what its trigger
    reads beside them.
    """

    lowering: Lowering
    view: View
    node: int
    key: tuple[int, ...]
    records: int
    agendas: list[int] = field(default_factory=list)
    proofs: list[int] = field(default_factory=list)

    @property
    def places(self) -> tuple[int, ...]:
        """The key's columns in what is keyed by it."""
        return tuple(range(len(self.key)))

    @property
    def names(self) -> str:
        return ", ".join(self.view.schema[i].name for i in self.key) or "none: it is one row"

    def values(self) -> Iterator[KeyValue]:
        """The key's columns and the fields of its structs."""
        nodes = self.lowering.builder.nodes
        maker = self._maker()
        operator = nodes[maker].operator
        for place, i in enumerate(self.key):
            column = self.view.schema[i]
            over_key = Column(place, column.type, column.nullable)
            yield KeyValue(over_key, Column(i, column.type, column.nullable), self.node, column.window)
            made = operator.expressions[i] if isinstance(operator, Map) else None
            if isinstance(made, Call) and made.function == "create_named_struct":
                (below,) = nodes[maker].inputs
                for ordinal, argument in enumerate(made.arguments[1::2]):
                    options = (("ordinal", ordinal),)
                    part = Call("get_struct_field", (over_key,), argument.type, True, options)
                    window = None if column.window is None else column.window.field(ordinal)
                    yield KeyValue(part, argument, below, window)

    def _maker(self) -> int:
        """The node that makes the view's rows, which those above it only choose among."""
        nodes, node = self.lowering.builder.nodes, self.node
        while isinstance(nodes[node].operator, Filter | Exchange | Integrate | Distinct):
            (node,) = nodes[node].inputs
        return node

    def over_view(self, value: Expression) -> Expression:
        """A value of the key, over the view's columns."""
        return remap(value, dict(enumerate(self.key)))

    def add_agenda(self, timers: Timers) -> None:
        self.agendas.append(self.lowering.builder.add(timers, self.records, *self.proofs))

    def threshold(self, bound: Bound) -> Threshold:
        """The bound, over the waterlines that it needs; what proves them is added to the proofs."""
        columns = sorted({column for e in bound for column in columns_of(e)})
        builder = self.lowering.builder
        lateness = tuple(builder.lateness[column] for column in columns)
        for one in lateness:
            if one == CLOCK:
                continue  # what every task knows anyway
            proof = builder.add(Broadcast(), self.lowering.proved(one))
            if proof not in self.proofs:
                self.proofs.append(proof)
        position = {column: i for i, column in enumerate(columns)}
        return Threshold(lateness, tuple(remap(e, position) for e in bound))
