"""The circuit that computes what a state doesn't have from what it has.

It is the new program's circuit above the missing traces, cut at streams whose integrals the state holds. In
their places stand sources, which are fed the integrals in pieces, one after the other, from an empty state:

    I(Q^Δ(d₁, d₂, …)) = Q(d₁ + d₂ + …)

so the traces that this leaves are the missing ones, run for run what the new program would have (DBSP, PVLDB
16(7), Theorem 3.2). Each is laid out as in the new circuit.

A TRIGGER or EMIT begins with the change: all of the view has left then, and nothing waits. So what has left
is what the view holds, and the traces of what waits are empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.identity.streams import united
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.emission.timers import Timers
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.inputs.waiting import Waiting
from dbsp.circuits.operators.linear import Constant, Filter, Negate, Source, Union
from dbsp.circuits.operators.operator import Node, Operator
from dbsp.circuits.operators.recursion import Loop
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.traces.layout import Layout
from dbsp.evolution.given import Given, Holdings
from dbsp.evolution.late import LateBefore


@dataclass(frozen=True)
class Missing:
    """Something that can't be computed. node: of the new circuit, whose trace is wanted. why: in words.

    table: whose rows nothing holds, if it is that.
    """

    node: int
    why: str
    table: str = ""


@dataclass(frozen=True)
class Fill:
    """circuit: to be run. given: per source what it is fed. filled: node of the new circuit → its node here.

    differences: per changed view the node whose trace is what the change adds to it. again: tables whose
    sources are read again. begun: nodes of the new circuit whose traces begin empty.
    """

    circuit: Circuit
    given: dict[str, Given]
    filled: dict[int, int]
    differences: dict[str, int]
    again: tuple[str, ...] = ()
    begun: tuple[int, ...] = ()


@dataclass
class Filling:
    """Collects the circuit. empty_tables: those that are new. readable: whose sources may be read again, with
    the columns of which they say other than what is held.

    checked: of nodes whose rows were taken by other rules, what they must be now. late: what came too late.
    """

    circuit: Circuit
    holdings: Holdings
    empty_tables: Collection[str]
    readable: Mapping[str, Collection[int]] = field(default_factory=dict)
    checked: Mapping[int, Sequence[Operator]] = field(default_factory=dict)
    late: LateBefore | None = None
    builder: CircuitBuilder = field(init=False)
    given: dict[str, Given] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)
    made: dict[int, int] = field(default_factory=dict)
    again: list[str] = field(default_factory=list)
    left: dict[int, int] = field(default_factory=dict)  # targets of which only what is left can be made
    unseen: set[int] = field(default_factory=set)  # nodes of `checked` whose rows nothing holds
    constants: set[str] = field(default_factory=set)  # columns that rows are given which hadn't got them
    targets: tuple[int, ...] = ()
    _wanted: int = -1  # the target that is being made

    def __post_init__(self) -> None:
        self.builder = CircuitBuilder(self.circuit.seed)
        self.empty = _empty(self.circuit, self.empty_tables)
        self._needed: list[set[int]] = [set() for _ in self.circuit.nodes]  # columns, per node

    def fill(self, targets: Iterable[int], changed: dict[str, Given]) -> Fill:
        """targets: nodes whose trace or log is missing. changed: what views held that hold something else."""
        nodes = self.circuit.nodes
        begun = {i for i in targets if isinstance(nodes[i].operator, (Trigger, Timers))}
        self.targets = tuple(sorted({*targets} - begun))
        outputs = {output.view: output for output in self.circuit.outputs}
        wanted = [*self.targets, *(outputs[view].node for view in changed)]
        self._need(wanted)
        for self._wanted in wanted:
            if not self._is_made_of_what_is_left(self._wanted):
                self._node(self._wanted)
        self._look()
        differences = {view: self._difference(outputs[view].node, view, old) for view, old in changed.items()}
        if self.missing:
            return Fill(self.builder.build(), {}, {}, {})
        for i in self.targets:
            if i in self.circuit.logs:
                self.builder.output(f"log {i}", self.made[i], None)
        built = self.builder.build()
        traces = [(i, made) for each in (self.made, self.left) for i, made in each.items()]
        layouts = self.circuit.layouts
        bags = {made for i, made in traces if i in layouts and layouts[i].bag}
        filled = {i: self.left[i] if i in self.left else self.made[i] for i in self.targets}
        again = tuple(self.again)
        whole = replace(built, bags=frozenset(bags))
        return Fill(whole, self.given, filled, differences, again, tuple(sorted(begun)))

    def _need(self, wanted: Collection[int]) -> None:
        """Find what is read of each node that the wanted ones follow from."""
        nodes = self.circuit.nodes
        reached = {*wanted}
        for i in wanted:
            self._needed[i] = _all(nodes[i])
        before = -1
        while before != (before := len(reached)):
            for loop in self.circuit.loops:
                if reached.intersection(loop.body):  # what comes back is read, too
                    reached |= {*loop.body}
                    for i in loop.body:
                        self._needed[i] = _all(nodes[i])
            for i in reversed(range(len(nodes))):
                for position, j in enumerate(nodes[i].inputs if i in reached else ()):
                    if self._begins(i) and j != self._left_of(i):
                        continue
                    reached.add(j)
                    self._needed[j] |= nodes[i].operator.reads(position, self._needed[i], nodes[j].schema)

    def _node(self, i: int) -> int:
        """The node that stands for node i of the new circuit."""
        if i not in self.made:
            node = self.circuit.nodes[i]
            given = self._given(i)
            if i in self.empty or given is not None:
                self.made[i] = self._stand_in(i, given)
            elif i in self.circuit.loop_of:
                self._loop(self.circuit.loop_of[i])
            elif isinstance(node.operator, Source) and self._is_readable(node.operator.table):
                self.again.append(node.operator.table)
                self.made[i] = self.builder.add(node.operator, name=node.name)
                self.builder.sources[node.operator.table] = self.made[i]
            elif isinstance(node.operator, Source):
                table = node.operator.table
                why = f"nothing holds the rows of table '{table}', as a view of all of them would"
                self.missing.append(Missing(self._wanted, why, table))
                self.made[i] = self._source(f"missing {i}", node.schema)
            elif self._begins(i):
                self.made[i] = self._node(self._left_of(i))
            elif self.late is not None and i == self.late.node:
                self.made[i] = self.builder.add(
                    Filter(self.late.condition), self._stand_in(i, self.late.given)
                )
            elif node.operator.history:
                self.missing.append(Missing(self._wanted, node.operator.history))
                self.made[i] = self._stand_in(i, None)
            else:
                inputs = [self._node(j) for j in node.inputs]
                self.made[i] = self.builder.add(node.operator, *inputs, name=node.name)
            for operator in self.checked.get(i, ()):
                self.builder.add(operator, self.made[i])
        return self.made[i]

    def read_of(self, table: str) -> set[int]:
        """The columns that are read of a table's rows."""
        return self._needed[self.circuit.sources[table]]

    def _is_readable(self, table: str) -> bool:
        return table in self.readable and self.read_of(table).isdisjoint(self.readable[table])

    def _look(self) -> None:
        """At the rows of what isn't made, if something holds them."""
        for i in self.checked.keys() - self.made.keys():
            schema = self.circuit.nodes[i].schema
            for operator in self.checked[i]:
                self._needed[i] |= operator.reads(0, set(), schema)
            if i in self.empty or self._given(i) is not None:
                self._node(i)
            else:
                self.unseen.add(i)

    def _begins(self, i: int) -> bool:
        """Whether it says what has left a view, and may do so of all that the view holds.

        Not where rows leave once they are final, as there may be others, nor with what result they are.
        """
        emit = self.circuit.nodes[i].operator
        if not isinstance(emit, Emit) or emit.leaves_once or emit.flagged:
            return False
        return self.circuit.layouts[i] == self.circuit.layouts[self._left_of(i)]

    def _left_of(self, i: int) -> int:
        """The view's trace, of what leaves it."""
        return self.circuit.nodes[i].inputs[1]

    def _is_made_of_what_is_left(self, i: int) -> bool:
        """A trace that is collected is made of one that was, if no reader of it looks at more than before.

        Nothing else can be made of that.
        """
        node, readers = self.circuit.nodes[i], self.circuit.collected.get(self.circuit.names.get(i, ""))
        if readers is None or not node.operator.is_trace:
            return False
        holdings = self.holdings.for_readers(readers)
        given = holdings.find(self.circuit.streams[i], node.schema, self._needed[i])
        if given is not None:
            self.left[i] = self._stand_in(i, given, f"rows left {i}")
        return given is not None

    def _given(self, i: int) -> Given | None:
        node, stream = self.circuit.nodes[i], self.circuit.streams[i]
        if i in self.targets and i in self.circuit.layouts and not node.operator.is_trace:
            return None  # its memory is wanted, which isn't what it puts out
        found = self.holdings.find(stream, node.schema, self._needed[i])
        if found is None and isinstance(node.operator, Union):
            there = [j for j in node.inputs if j not in self.empty]
            if 0 < len(there) < len(node.inputs):
                stream = united([self.circuit.streams[j] for j in there])
                found = self.holdings.find(stream, node.schema, self._needed[i])
        if found is not None:
            made = zip(stream.columns, found.columns, strict=True)
            self.constants |= {column for column, one in made if isinstance(one, pa.Scalar)}
        return found

    def _source(self, name: str, schema: pa.Schema) -> int:
        node = self.builder.add(Source(name, schema), name=name)
        self.builder.sources[name] = node
        return node

    def _stand_in(self, i: int, given: Given | None, name: str = "") -> int:
        """A source in the place of node i, placed and laid out as that is. given: None: of no rows."""
        node = self.circuit.nodes[i]
        name = name or f"rows {i}"
        if given is not None:
            self.given[name] = given
        source = self._source(name, node.schema)
        placed = source if node.placement is None else self.builder.add(Exchange(node.placement), source)
        if not node.operator.is_trace:
            return placed
        if isinstance(node.operator, Integrate):
            return self.builder.add(node.operator, placed, name=node.name)
        if isinstance(node.operator, Waiting):
            column, placed_by = node.operator.watermark.column, node.operator.placed_by
            value = Column(column, node.schema.field(column).type)
            return self.builder.add(Ahead(placed_by, column, None, True, value), placed, name=node.name)
        layout = self.circuit.layouts[i]
        assert layout == Layout(node.schema, layout.placement), f"{node.operator}: rows are kept otherwise"
        return self.builder.add(Integrate(layout.placement), placed, name=node.name)

    def _loop(self, loop: Loop) -> None:
        nodes = self.circuit.nodes
        outside = {j for i in loop.body for j in nodes[i].inputs if j not in loop.body}
        for j in sorted(outside):
            self._node(j)
        for i in loop.body:
            inputs = [self.made[j] for j in nodes[i].inputs]
            self.made[i] = self.builder.add(nodes[i].operator, *inputs, name=nodes[i].name)
        feedback = tuple((self.made[i], self.made[recurrence]) for i, recurrence in loop.feedback)
        self.builder.loops.append(Loop(tuple(self.made[i] for i in loop.body), feedback))

    def _difference(self, i: int, view: str, old: Given) -> int:
        """A trace of the new contents less the old ones of a view; others may have the same new ones."""
        name, node = f"rows of {view} before", self.circuit.nodes[i]
        self.given[name] = old
        retracted = self.builder.add(Negate(), self._source(name, old.schema))
        change = self.builder.add(Union(node.schema), self._node(i), retracted)
        everything = tuple(range(len(node.schema)))
        return self.builder.add(Integrate(everything), self.builder.placed(change, everything))


def _all(node: Node) -> set[int]:
    return set(range(len(node.schema)))


def _empty(circuit: Circuit, tables: Collection[str]) -> set[int]:
    """The nodes that can't have put out any row, since only new tables feed them."""
    found: set[int] = set()
    for i, node in enumerate(circuit.nodes):
        operator = node.operator
        if isinstance(operator, Source):
            if operator.table in tables:
                found.add(i)
        elif isinstance(operator, Constant) or (isinstance(operator, Aggregate) and not operator.keys):
            continue
        elif node.inputs and found.issuperset(node.inputs):
            found.add(i)
    return found
