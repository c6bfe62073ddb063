"""A query evaluated over the rows that count: of a large table those that its partners, or constants, name.

    evaluate(c, t) = evaluate(c, t') where t' ⊆ t has all rows that meet what c needs of them (`needs.py`)

The small side of a join is evaluated first, and its keys are looked up in the table's chunks. Where it isn't
small the table is read as a whole, and nothing was evaluated in vain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.expressions.predicates import conjuncts
from dbsp.circuits.operators.linear import Filter, Map, Source
from dbsp.circuits.operators.operator import delta_of
from dbsp.circuits.steps.evaluation import before_its_trace, needed, once, results
from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.needs import Is, Meets, needs, values_of
from dbsp.views.view import Contents

# A table of fewer rows is read. Of a larger one a key is looked up for so many rows of it, and found rows are
# taken one by one where they are as few as that.
LARGE, KEYS, TAKEN = 1 << 10, 32, 4


def evaluate_narrowly(
    circuit: Circuit,
    parts: Mapping[str, Sequence[ZSet]],
    searched: Mapping[str, Contents],
    clock: datetime | None = None,
) -> dict[str, ZSet]:
    """What `dbsp.circuits.steps.evaluation.evaluate` gives. searched: tables in which rows can be looked up,
    of which the parts are all.
    """
    narrowing = Narrowing(circuit, parts, searched, clock)
    narrowing.narrow()
    narrowing.evaluation.up_to()
    return results(narrowing.evaluation)


class Narrowing:
    """parts: of each table, as far as it is known which of its rows count. A node's value is of these."""

    def __init__(
        self,
        circuit: Circuit,
        parts: Mapping[str, Sequence[ZSet]],
        searched: Mapping[str, Contents],
        clock: datetime | None,
    ) -> None:
        self._circuit, self.parts, self._searched = circuit, dict(parts), searched
        self.evaluation = once(circuit, lambda table: self.parts[table], clock)
        self._tables = {
            i: table
            for table, i in circuit.sources.items()
            if table in searched and self._rows(table) >= LARGE and not self._is_numbered(i)
        }
        # tables whose partners are being evaluated
        self._open: set[int] = set()

    def narrow(self) -> None:
        """Take of each large table the rows that count, where few of them do."""
        if not self._tables:
            return
        ends = [before_its_trace(self._circuit, output.node) for output in self._circuit.outputs]
        self._wanted = needed(self._circuit, ends)
        self._needs = needs(self._circuit, self._wanted, ends)
        for i, table in [*self._tables.items()]:
            if any(self._look_up(table, need.columns, values_of(need)) for need in self._constants(i)):
                del self._tables[i]
        filtered = self._filtered()
        for i in sorted(self._tables, key=lambda i: (i in filtered, -self._rows(self._tables[i]))):
            self._by_partners(i)

    def _filtered(self) -> set[int]:
        """The tables of which a filter may leave few rows: those that others are to meet, and so the last."""
        found = set[int]()
        for i in self._wanted:
            operator, below = self._circuit.nodes[i].operator, i
            if isinstance(operator, Filter) and not all(map(_is_not_null, conjuncts(operator.condition))):
                while isinstance(self._circuit.nodes[below].operator, Filter | Map):
                    (below,) = self._circuit.nodes[below].inputs
                found.add(below)
        return found

    def _constants(self, i: int) -> list[Is]:
        """What is needed of a table's rows, the most columns first."""
        found = [need for need in self._needs.get(i, ()) if isinstance(need, Is)]
        return sorted(found, key=lambda need: (-len(need.columns), need.columns))

    def _by_partners(self, i: int) -> None:
        """By the first of its partners that are few, which may be so by partners of their own."""
        if i in self._open or i in self.evaluation.values:
            return
        self._open.add(i)
        partners = [need for need in self._needs.get(i, ()) if isinstance(need, Meets)]
        for need in sorted(partners, key=lambda need: need.node):
            node = before_its_trace(self._circuit, need.node)
            asked = needed(self._circuit, [node])
            if asked & self._open:
                continue
            for other in sorted(asked & self._tables.keys()):
                self._by_partners(other)
            self.evaluation.up_to(asked)
            found = delta_of(self.evaluation.values[node])
            table = self._tables[i]
            if KEYS * len(found) <= self._rows(table):
                wanted = [found.rows.column(column) for column in need.others]
                names = [str(column) for column in need.others]
                if self._look_up(table, need.columns, pa.RecordBatch.from_arrays(wanted, names=names)):
                    break
        self._open.remove(i)

    def _look_up(self, table: str, columns: Sequence[int], wanted: pa.RecordBatch) -> bool:
        """Whether few rows have the values in these columns; then they are the table's."""
        found = self._searched[table].among(columns, wanted, self._rows(table) // TAKEN)
        if found is None:
            return False
        self.parts[table] = found
        return True

    def _rows(self, table: str) -> int:
        return sum(map(len, self.parts[table]))

    def _is_numbered(self, i: int) -> bool:
        """Whether it counts where a row is among the others."""
        operator = self._circuit.nodes[i].operator
        return isinstance(operator, Source) and operator.is_numbered


def _is_not_null(condition: Expression) -> bool:
    return isinstance(condition, Call) and condition.function == "is_not_null"
