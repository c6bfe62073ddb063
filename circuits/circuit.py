"""Circuits: operators wired into an acyclic graph, ordered, placed and levelled.

A node's *level* counts the exchanges above it. All nodes of a level run in one task per partition, so a
step is one stage per level. The builder adds an exchange only where rows don't already lie by the hash of
the columns an operator needs, and returns the node it already has for an operator over the same inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dbsp.circuits.functions.python.within import calls_python
from dbsp.circuits.identity.spines import readers_of, spine_names
from dbsp.circuits.identity.streams import Stream, streams
from dbsp.circuits.operators.operator import Node, Operator
from dbsp.circuits.operators.streams import Exchange
from dbsp.circuits.progress.limits import Retention
from dbsp.circuits.progress.waterline import CLOCK, Lateness
from dbsp.circuits.traces.layout import Layout

if TYPE_CHECKING:
    from dbsp.circuits.operators.recursion import Loop


@dataclass(frozen=True)
class Output:
    """A view: the node whose deltas are its changelog, and how its contents are kept.

    trace: the Integrate node that holds the contents, or None: nothing is ever retracted, so that the
    contents are the deltas one after the other (a *log*). emission: the Emit node whose deltas leave instead
    of the view's, or None. passed_on: nothing of it is kept; its deltas are written as a table's are given,
    for another circuit to take.
    """

    view: str
    node: int
    trace: int | None
    emission: int | None = None
    passed_on: bool = False

    @property
    def changes(self) -> int:
        """The node whose deltas are what leaves."""
        return self.kept if self.emission is None else self.emission

    @property
    def kept(self) -> int:
        """The node whose trace or log holds the view."""
        return self.node if self.trace is None else self.trace


@dataclass(frozen=True)
class Circuit:
    """nodes in topological order; sources: table → its Source node; seed: of all row hashes.

    lateness: every annotated column, in the order of `retain.waterline_row`. retentions: of the traces that
    can be collected. loops: its recursions, each evaluated as a whole. bags: the traces that list a row
    several times; None: all that may. known_as: of nodes whose rows another circuit has by another digest.
    """

    nodes: tuple[Node, ...]
    sources: dict[str, int]
    outputs: tuple[Output, ...]
    seed: int = 0
    lateness: tuple[Lateness, ...] = ()
    retentions: dict[int, Retention] = field(default_factory=dict)
    loops: tuple[Loop, ...] = ()
    bags: frozenset[int] | None = None
    known_as: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def loop_of(self) -> dict[int, Loop]:
        """The loop of every node that is in one."""
        return {i: loop for loop in self.loops for i in loop.body}

    @cached_property
    def gathered(self) -> frozenset[int]:
        """The nodes whose whole trace belongs to the first partition."""
        return frozenset(i for i, node in enumerate(self.nodes) if node.operator.gathered)

    @cached_property
    def tables(self) -> dict[int, str]:
        """The table of every Source node."""
        return {source: table for table, source in self.sources.items()}

    @cached_property
    def fed_back(self) -> dict[int, tuple[int, ...]]:
        """Per node where an iteration begins, the nodes whose output enters there in the next one."""
        pairs = [pair for loop in self.loops for pair in loop.feedback]
        return {begins: tuple(source for source, node in pairs if node == begins) for _, begins in pairs}

    @cached_property
    def levels(self) -> int:
        return 1 + max((node.level for node in self.nodes), default=0)

    @cached_property
    def of_level(self) -> tuple[tuple[int, ...], ...]:
        """The nodes of each level, in order."""
        return tuple(
            tuple(i for i, node in enumerate(self.nodes) if node.level == level)
            for level in range(self.levels)
        )

    @cached_property
    def is_timed(self) -> bool:
        """Whether anything in it watches the step clock."""
        return CLOCK in self.lateness

    @cached_property
    def calls_python(self) -> bool:
        """Whether a step calls functions that the user has written, which may end their process."""
        return any(calls_python(node.operator) for node in self.nodes)

    @cached_property
    def layouts(self) -> dict[int, Layout]:
        """The layout of every node with a trace."""
        layouts = {
            i: node.operator.layout(*(self.nodes[j].schema for j in node.inputs))
            for i, node in enumerate(self.nodes)
        }
        bags = self._bags() if self.bags is None else self.bags
        return {i: replace(layout, bag=i in bags) for i, layout in layouts.items() if layout is not None}

    def _bags(self) -> set[int]:
        """The traces of rows that are never retracted, and that nobody reads who would have them added up."""
        summed = self.gathered | self.retracting() | {output.kept for output in self.outputs}
        for node in self.nodes:
            summed |= {i for position, i in enumerate(node.inputs) if not node.operator.takes_bag(position)}
        return {i for i, node in enumerate(self.nodes) if node.operator.keeps_rows and i not in summed}

    def retracting(self, growing: Collection[int] = ()) -> set[int]:
        """The nodes that may put out negative weights. growing: sources that have none.

        A recursion does only if it does though what it reads of itself does not: by induction over
        iterations.
        """
        found: set[int] = set()
        while True:
            before = len(found)
            for i, node in enumerate(self.nodes):
                inputs = self.fed_back.get(i, node.inputs)
                if i not in growing and node.operator.retracts([j in found for j in inputs]):
                    found.add(i)
            if len(found) == before:
                return found

    @cached_property
    def logs(self) -> dict[int, Layout]:
        """The layout of every node whose deltas are kept as a log."""
        nodes = sorted(
            {output.node for output in self.outputs if output.trace is None and not output.passed_on}
        )
        return {i: Layout(self.nodes[i].schema, ()) for i in nodes}

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """What each node puts out, by digests of its meaning."""
        return streams(self.nodes, self.loops, self.known_as)

    @cached_property
    def names(self) -> dict[int, str]:
        """The name in a state of every trace and log."""
        return spine_names(self.nodes, self.streams, self.layouts, self.logs, self.seed)

    @cached_property
    def collected(self) -> dict[str, tuple[str, ...]]:
        """Per name of a trace that may lose rows, its readers."""
        return {
            self.names[i]: readers_of(retention, self.streams[i].columns, self.lateness)
            for i, retention in self.retentions.items()
        }

    def stored(self, node: int) -> Layout:
        """How the batches of a trace or log are stored. A node has one or the other."""
        return self.logs[node] if node in self.logs else self.layouts[node]

    @cached_property
    def consumers(self) -> tuple[frozenset[int], ...]:
        """Per node, the levels of the nodes that read it."""
        levels: list[set[int]] = [set() for _ in self.nodes]
        for node in self.nodes:
            for i in node.inputs:
                levels[i].add(node.level)
        return tuple(map(frozenset, levels))

    def reached(self, node: int) -> set[int]:
        """The node, and all that its rows reach."""
        reached = {node}
        for i in range(node + 1, len(self.nodes)):
            if reached.intersection(self.nodes[i].inputs):
                reached.add(i)
        return reached

    def label(self, node: int) -> str:
        """A node for people: `7 Integrate per_auction`."""
        named = self.nodes[node].name
        return f"{node} {type(self.nodes[node].operator).__name__}" + (f" {named}" if named else "")

    def above(self, ends: Iterable[int]) -> set[int]:
        """The nodes, and all whose rows reach them, also by coming back in a recursion."""
        found, left = set[int](), [*ends]
        while left:
            i = left.pop()
            if i not in found:
                found.add(i)
                left += (*self.nodes[i].inputs, *self.fed_back.get(i, ()))
        return found

    def views_of(self, node: int) -> list[str]:
        """The views that a node's rows reach, in the order of the program."""
        reached = self.reached(node)
        return [output.view for output in self.outputs if output.node in reached]

    @cached_property
    def _output_of(self) -> dict[str, Output]:
        return {output.view: output for output in self.outputs}

    def output(self, view: str) -> Output:
        return self._output_of[view]


@dataclass
class CircuitBuilder:
    """Collects nodes; equal operators over equal inputs are one node (hash-consing)."""

    seed: int = 0
    nodes: list[Node] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    lateness: list[Lateness] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    _known: dict[tuple[Operator, tuple[int, ...]], int] = field(default_factory=dict)

    def add(self, operator: Operator, *inputs: int, name: str = "") -> int:
        """The position of the node; a new one unless it exists."""
        known = self._known.get((operator, inputs))
        if known is not None:
            return known
        nodes = [self.nodes[i] for i in inputs]
        level = max((node.level for node in nodes), default=0) + isinstance(operator, Exchange)
        schema = operator.schema(*(node.schema for node in nodes))
        placement = operator.placement(*(node.placement for node in nodes))
        self.nodes.append(Node(operator, inputs, schema, placement, level, name))
        self._known[operator, inputs] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def placed(self, node: int, columns: tuple[int, ...], within: bool = False) -> int:
        """The node, its rows placed by the hash of `columns`; through an Exchange if they aren't.

        within: any placement by some of the columns will do.
        """
        placement = self.nodes[node].placement
        if placement == columns or (within and placement is not None and set(placement) <= set(columns)):
            return node
        return self.add(Exchange(columns), node)

    def placement(self, node: int) -> tuple[int, ...]:
        """Where a placed node's rows lie."""
        placement = self.nodes[node].placement
        assert placement is not None, self.nodes[node]
        return placement

    def is_trace_of_rows(self, node: int) -> bool:
        """Whether what it keeps is the integral of what it puts out, row by row."""
        made = self.nodes[node]
        layout = made.operator.layout(*(self.nodes[i].schema for i in made.inputs))
        return made.operator.is_trace and layout is not None and len(layout.identity) == len(made.schema)

    def loop(self, feedback: Sequence[tuple[int, int]], results: Sequence[int]) -> list[int]:
        """Close a recursion. feedback: (node, Recurrence): what the node puts out enters an iteration later.

        Returns the FixedPoints of `results`, which must be the last nodes of the loop.
        """
        from dbsp.circuits.operators.recursion import FixedPoint, Loop  # noqa: PLC0415  few circuits have one

        ends = [self.add(FixedPoint(), node) for node in results]
        inside = {recurrence for _, recurrence in feedback}
        for i in range(min(inside), len(self.nodes)):
            if inside.intersection(self.nodes[i].inputs):
                inside.add(i)
        self.loops.append(Loop(tuple(sorted(inside)), tuple(feedback)))
        return ends

    def output(self, view: str, node: int, trace: int | None, emission: int | None = None) -> None:
        self.outputs.append(Output(view, node, trace, emission))

    def pass_on(self, name: str, node: int) -> None:
        self.outputs.append(Output(name, node, None, passed_on=True))

    def build(self) -> Circuit:
        return Circuit(
            tuple(self.nodes),
            dict(self.sources),
            tuple(self.outputs),
            self.seed,
            tuple(self.lateness),
            loops=tuple(self.loops),
        )
