"""The question why a row is in a view, as a pipeline's reader or a command asks it of a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.json_text import encode
from dbsp.circuits.errors import Error
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.explaining import Explaining
from dbsp.lineage.held import Held, searched
from dbsp.lineage.relational import Demand, columns, consolidated, matching
from dbsp.sql.plans.nodes import Scan
from dbsp.state.store import Store
from dbsp.views.derivation import Why, leaves, most
from dbsp.views.outputs import changes_of, state_of
from dbsp.views.traces import Traces

# steps that are looked through for the one that made a row
_LOOKED = 1000


class Asking:
    """Of one program and its state."""

    def __init__(self, traces: Traces, store: Store) -> None:
        self._traces, self._store = traces, store
        self._program = traces.program

    def why(
        self, view: str, step: int, state: State, asked: Sequence[int], bound: pa.RecordBatch, rows: ZSet
    ) -> Why:
        """Of the rows of a view that have the values of `bound` in the columns `asked`, after a step.

        rows: these; where there are none, where they are lost. Raises dbsp.circuits.errors.Error.
        """
        schema = self._program.views[view].schema
        explaining = Explaining(self._program, Held(self._traces, state, self._store.segments))
        question = f"{view} where {_in_words(asked, bound)}"
        if len(rows):
            derivation = explaining.view(view, rows)
            made = self._made(view, step, consolidated(rows, schema))
            came = {} if made is None else self._came(view, made, self._demanded(view, asked, bound))
            return Why(question, step, made, derivation, came)
        return Why(question, step, None, explaining.missing(view, self._demanded(view, asked, bound)))

    def _demanded(self, view: str, asked: Sequence[int], bound: pa.RecordBatch) -> Demand:
        schema = self._program.views[view].schema
        values = pa.RecordBatch.from_arrays(
            [bound.column(i) for i in asked], names=[schema[i].name for i in asked]
        )
        own = tuple(Column(i, schema[i].type, schema[i].nullable) for i in asked)
        return Demand(own, ZSet(values, np.ones(1, dtype=np.int64)))

    def _made(self, view: str, until: int, rows: ZSet) -> int | None:
        """The last step that changed one of the rows, of those that are kept and of this program."""
        schema = self._program.views[view].schema
        demand = columns(rows, schema, 0, len(schema))
        steps = [step for step in self._store.steps if step <= until]
        for step in sorted(steps, reverse=True)[:_LOOKED]:
            try:
                parts = changes_of(self._program, self._store.commit_of(step), view, self._store).parts
            except Error:  # the program was another one then, or the step is being forgotten
                return None
            for part in parts:
                near = searched(part, range(len(schema)), [demand])
                changed = ZSet(near.rows.select(list(range(len(schema)))), near.weights)
                if len(matching(changed, schema, [demand])):
                    return step
        return None

    def _came(self, view: str, made: int, demand: Demand) -> dict[str, ZSet]:
        """What a step changed in the tables, of the rows that the view's follow from, before it or after.

            came[t] = (I(t) − z⁻¹(I(t))) on leaves(rows) ∪ leaves(z⁻¹(rows))

        {} where the step before isn't kept, or was one of another program.
        """
        schema, found = self._program.views[view].schema, dict[str, list[ZSet]]()
        try:
            states = [self._state(made - 1), self._state(made)]
            for held in (Held(self._traces, state, self._store.segments) for state in states):
                there = held.view(view, schema, [demand])
                if there is not None and len(there.rows):
                    derivation = Explaining(self._program, held).view(view, there.rows)
                    for table, rows in leaves(derivation).items():
                        found.setdefault(table, []).append(rows)
            return self._changed(found, states)
        except Error:
            return {}

    def _changed(self, found: dict[str, list[ZSet]], states: Sequence[State]) -> dict[str, ZSet]:
        changed = {}
        for table, parts in found.items():
            schema = self._program.inputs[table].schema
            demand = columns(most(parts), schema, 0, len(schema))
            before, after = (
                Held(self._traces, state, self._store.segments).table(Scan(table, schema), [demand])
                for state in states
            )
            if before is not None and after is not None:
                delta = consolidated(after.rows - before.rows, schema)
                if len(delta):
                    changed[table] = delta
        return changed

    def _state(self, step: int) -> State:
        return state_of(self._program, self._store.commit_of(step) if step else None)


def _in_words(asked: Sequence[int], bound: pa.RecordBatch) -> str:
    return " and ".join(f"{bound.schema.names[i]} = {encode(bound.column(i))[0]}" for i in asked)
