"""What holds the contents of a node together: why the sum of all its deltas doesn't grow with history.

    held(upsert) = its primary key      held(ahead) = the clock          held(top[; k]) = k rows
    held(γ[k] a) = the domain of k, where it is constant, else held(a)   held(a ⋈ b) = held(a) and held(b)
    held(a ⋉ b) = held(a)               held(f a) = held(a), f row by row

None: nothing does, and some input makes it grow for ever. A primary key is taken for a set of values that
does not grow, as CONSTANT DOMAIN is.
"""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.clock.temporal_filter import Ahead, Difference
from dbsp.circuits.operators.clock.timed_projection import TimedProjection
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.inputs.arrivals import Arrival, Remaining
from dbsp.circuits.operators.inputs.defaults import Defaults
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, Upsert
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.joins.join import Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Constant, Filter, FlatMap, Map, Negate, Source, Union
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.progress.proofs.lineage import origin
from dbsp.sql.plans.program import Program, Table

# a row of the output is made of one row of each input, or of one of some input
_OF_ALL = (
    Map, FlatMap, Filter, Negate, Union, Difference, Generate, Exchange, Integrate, Distinct, AppendOnly,
    NonNegative, OnTime, Arrival, Remaining, Defaults, Join, Combine, CombineParts, Aggregate, Window,
    Sessions, Top, TopOfAppends,
)  # fmt: skip
# it is, or stands beside, one row of the first input
_OF_FIRST = (SemiJoin, AsOf, SetOperation, TimedProjection)

Reasons = tuple[str, ...]


def held(program: Program, node: int) -> Reasons | None:
    """What bounds the contents of a node's output, each once."""
    return _Held(program).of(node)


def constant_domain(program: Program, node: int, columns: tuple[int, ...]) -> str | None:
    """What bounds how many values some columns of a node have together."""
    origins = [origin(program.circuit, node, column) for column in columns]
    if any(o is None or o[1] not in program.tables[o[0]].constant_domain for o in origins):
        return None
    names = dict.fromkeys(f"{table}.{column}" for table, column in filter(None, origins))
    return "the constant domain of " + " and ".join(names) if names else "being one row"


def key_of(table: Table) -> str:
    return f"the primary key of {table.name} ({', '.join(table.primary_key)})"


class _Held:
    def __init__(self, program: Program) -> None:
        self.program, self.circuit = program, program.circuit
        self.known: dict[int, Reasons | None] = {}

    def of(self, node: int) -> Reasons | None:
        if node not in self.known:
            self.known[node] = None  # of a loop nothing is known
            self.known[node] = self._found(self.circuit, node)
        return self.known[node]

    def _found(self, circuit: Circuit, node: int) -> Reasons | None:
        at = circuit.nodes[node]
        operator = at.operator
        if isinstance(operator, Upsert):
            return (key_of(self.program.tables[self._table(node)]),)
        if isinstance(operator, Constant):
            return ("constants",)
        if isinstance(operator, Ahead):
            return ("the clock",) if operator.clock is not None else self.of(at.inputs[0])
        if isinstance(operator, TimedProjection) and operator.ahead:
            return ("the clock",)  # it has come for no row that is visible
        domain = self._domain(node, operator)
        if domain is not None:
            return (domain,)
        if isinstance(operator, _OF_FIRST):
            return self.of(at.inputs[0])
        if isinstance(operator, _OF_ALL) and at.inputs:
            parts = [self.of(i) for i in at.inputs]
            if all(part is not None for part in parts):
                return tuple(dict.fromkeys(reason for part in parts for reason in part or ()))
        return None

    def _table(self, node: int) -> str:
        """Whose rows a keyed table's trace has."""
        while not isinstance(source := self.circuit.nodes[node].operator, Source):
            node = self.circuit.nodes[node].inputs[0]
        return source.table

    def _domain(self, node: int, operator: Operator) -> str | None:
        """Of what tells rows apart: of groups their keys, of a first few their partition, else all columns.

        The parts of a sum are as many as its type has digits for.
        """
        if isinstance(operator, Combine | CombineParts | Aggregate):
            return constant_domain(self.program, node, tuple(range(operator.keys)))
        if isinstance(operator, Top | TopOfAppends) and _is_few(operator):
            domain = constant_domain(self.program, node, operator.partition)
            return f"being the first {operator.size} rows" if domain == "being one row" else domain
        width = len(self.circuit.nodes[node].schema)
        return constant_domain(self.program, node, tuple(range(width))) if width else None


def _is_few(operator: Top | TopOfAppends) -> bool:
    """Whether it takes so many rows a partition: of those that tie a rank takes all."""
    return isinstance(operator, TopOfAppends) or operator.ranking == "row_number"
