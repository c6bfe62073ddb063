"""What bounds the state of every stateful operator: the lines of `dbsp check`.

A state is bounded where the rows it can hold are: by a constant (a group-by of nothing, VALUES), or by the
keys of tables that are upserted in place. Anything over a table of events grows with its history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from sql.plan import Aggregate, Distinct, Join, Plan, Scan, Schema, Values
from sql.program import Program, Table
from sql.spelling import spell, spell_node
from sql.verify import inputs


@dataclass(frozen=True, slots=True)
class State:
    """One state of one operator. bound: what bounds it, or None; hint: then, what would."""

    relation: str
    operator: str
    bound: str | None
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.relation}: {self.operator}: " + (
            f"bounded by {self.bound}" if self.bound is not None else f"unbounded; {self.hint}"
        )


def check(program: Program) -> str:
    """One line per state."""
    return "".join(f"{state}\n" for state in states(program))


def states(program: Program) -> list[State]:
    """Every state, in the order of the program; a sub-plan that several views share is listed once."""
    found: list[State] = []
    reads: dict[str, frozenset[str]] = {name: frozenset([name]) for name in program.tables}
    for table in program.tables.values():
        if table.primary_key:
            found.append(State(table.name, "rows by key", _key_bound([table])))
        elif not (table.append_only or table.unchecked):
            hint = f"{_hint(table.schema, [table])}, or trust the feed: WITH (unchecked = true)"
            found.append(State(table.name, "rows, to find retractions of absent ones", None, hint))
    seen: set[Plan] = set()
    for view in program.views.values():
        reads[view.name] = frozenset(_tables(view.plan, reads))
        for plan in _nodes(view.plan):
            if plan not in seen:
                seen.add(plan)
                found += _states(view.name, plan, program.tables, reads)
    return found


def _nodes(plan: Plan) -> Iterator[Plan]:
    for input_ in inputs(plan):
        yield from _nodes(input_)
    yield plan


def _tables(plan: Plan, reads: Mapping[str, frozenset[str]]) -> set[str]:
    return {table for node in _nodes(plan) if isinstance(node, Scan) for table in reads[node.relation]}


def _states(
    view: str, plan: Plan, tables: Mapping[str, Table], reads: Mapping[str, frozenset[str]]
) -> Iterator[State]:
    def state(operator: str, stored: Plan, schema: Schema) -> State:
        names = sorted(_tables(stored, reads))
        stored_tables = [tables[name] for name in names]
        bound = _bound(stored, stored_tables)
        return State(view, operator, bound, "" if bound is not None else _hint(schema, stored_tables))

    match plan:
        case Join():
            operator = spell_node(plan)
            yield state(f"{operator}: left rows", plan.left, plan.left.schema)
            yield state(f"{operator}: right rows", plan.right, plan.right.schema)
        case Distinct():
            yield state(f"distinct ({', '.join(f.name for f in plan.schema)})", plan.input, plan.schema)
        case Aggregate():
            keys = ", ".join(spell(key, plan.input.schema) for key in plan.keys)
            if not keys and not _stores_rows(plan):
                yield State(view, spell_node(plan), "one group")
            else:
                yield state(spell_node(plan), plan.input, plan.input.schema)


def _stores_rows(plan: Aggregate) -> bool:
    return any(call.distinct or call.function in ("min", "max") for call in plan.aggregates)


def _bound(stored: Plan, tables: list[Table]) -> str | None:
    if not tables:
        return "its VALUES" if any(isinstance(node, Values) for node in _nodes(stored)) else "a constant"
    return _key_bound(tables) if all(table.primary_key for table in tables) else None


def _key_bound(tables: list[Table]) -> str:
    return " and ".join(f"PRIMARY KEY ({', '.join(t.primary_key)}) of {t.name}" for t in tables)


def _hint(schema: Schema, tables: list[Table]) -> str:
    """Rows that carry a time could be collected behind a lateness of the tables' time columns."""
    grows = f"grows with {', '.join(table.name for table in tables)}"
    times = [
        f"{table.name}.{field.name}"
        for table in tables
        for field in table.schema
        if pa.types.is_temporal(field.type) and not table.primary_key
    ]
    if times and any(pa.types.is_temporal(field.type) for field in schema):
        return f"{grows}: LATENESS on {' or '.join(times)} would bound it (not supported yet)"
    return f"{grows}: it holds no time to bound it by; retract old rows, or group by time"
