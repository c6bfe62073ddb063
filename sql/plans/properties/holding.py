"""What holds the contents of a node together: why the sum of all its deltas doesn't grow with history.

    held(upsert) = its primary key      held(ahead) = the clock          held(top[; k]) = k rows
    held(γ[k] a) = the domain of k, where it is constant, else held(a)   held(a ⋈ b) = held(a) and held(b)
    held(a ⋉ b) = held(a)               held(f a) = held(a), f row by row

None: nothing does, and some input makes it grow for ever. A primary key is taken for a set of values that
does not grow, as CONSTANT DOMAIN is.
"""

from __future__ import annotations

from dbsp.circuits.operators.inputs.tables import PRIMARY_KEY
from dbsp.circuits.operators.operator import Reasons
from dbsp.circuits.progress.proofs.lineage import origin
from dbsp.sql.plans.program import Program, Table


def held(program: Program, node: int) -> Reasons | None:
    """What bounds the contents of a node's output, each once."""
    return _Held(program).of(node)


def constant_domain(program: Program, node: int, columns: tuple[int, ...]) -> str | None:
    """What bounds how many values some columns of a node have together."""
    origins = [origin(program.circuit, node, column) for column in columns]
    if any(o is None or not _has_constant_domain(program, *o) for o in origins):
        return None
    names = dict.fromkeys(f"{table}.{column}" for table, column in filter(None, origins))
    return "the constant domain of " + " and ".join(names) if names else "being one row"


def _has_constant_domain(program: Program, relation: str, column: str) -> bool:
    """relation: a table, or what sources refuse."""
    return relation in program.tables and column in program.tables[relation].constant_domain


def key_of(table: Table) -> str:
    return f"the primary key of {table.name} ({', '.join(table.primary_key)})"


class _Held:
    def __init__(self, program: Program) -> None:
        self.program, self.circuit = program, program.circuit
        self.known: dict[int, Reasons | None] = {}

    def of(self, node: int) -> Reasons | None:
        if node not in self.known:
            self.known[node] = None  # of a loop nothing is known
            self.known[node] = self._found(node)
        return self.known[node]

    def _found(self, node: int) -> Reasons | None:
        here = self.circuit.nodes[node]
        own = here.operator.held([None] * len(here.inputs))
        if own is not None:
            return tuple(self._key(node) if reason == PRIMARY_KEY else reason for reason in own)
        told_apart = here.operator.rows_a_value(len(here.schema))
        if told_apart is not None:
            columns, why = told_apart
            domain = constant_domain(self.program, node, columns) if columns else why
            if domain is not None:
                return (domain,)
        return here.operator.held([self.of(i) for i in here.inputs])

    def _key(self, node: int) -> str:
        """The key of the table whose rows a keyed table's trace has."""
        while node not in self.circuit.tables:
            node = self.circuit.nodes[node].inputs[0]
        return key_of(self.program.tables[self.circuit.tables[node]])
