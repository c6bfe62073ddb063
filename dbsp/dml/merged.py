"""What a MERGE changes: per clause a query, over the table and the source as they are.

    matched, deleted    gone = σ[c](t) ⋉ s          matched, updated    gone, come = π[t.*, e](σ[c](t ⋈ s))
    source              come = π[e](σ[c](s ▷ t))    target              the same of t ▷ s

c is true of the clause's condition and of no earlier one of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.statement import Merge, When
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.types import ddl
from dbsp.sql.text.tokens import quoted


@dataclass(frozen=True)
class Found:
    """rows: of the table's columns, if they go, then of what `columns` get."""

    rows: ZSet
    goes: bool
    columns: tuple[str, ...]


def merged(statement: Merge, called: str, ask: Callable[[str], ZSet]) -> Iterator[Found]:
    """Clause by clause. called: the table with its name, as a query has them. ask: a query's rows."""
    source, on = statement.source, statement.on
    for number, clause in enumerate(statement.clauses):
        if clause.stays:
            continue
        earlier = [one for one in statement.clauses[:number] if one.of == clause.of]
        truth = _truth(earlier, clause)
        where = f" WHERE {truth}" if truth else ""
        made = _made(statement.table, clause)
        columns = ", ".join([f"{quoted([statement.name])}.*", *made])
        if clause.of == "source":
            query = f"SELECT {', '.join(made)} FROM {source} LEFT ANTI JOIN {called} ON {on}{where}"
        elif clause.of == "target":
            query = f"SELECT {columns} FROM {called} LEFT ANTI JOIN {source} ON {on}{where}"
        elif clause.texts is None:  # however many rows of the source say so
            both = f"({on}) AND {truth}" if truth else on
            query = f"SELECT {columns} FROM {called} LEFT SEMI JOIN {source} ON {both}"
        else:
            query = f"SELECT {columns} FROM {called} JOIN {source} ON {on}{where}"
        yield Found(ask(query), clause.of != "source", tuple(clause.texts or ()))


def _truth(earlier: Sequence[When], clause: When) -> str:
    """That the clause is the first that applies."""
    others = [f"NOT COALESCE(({one.condition or 'TRUE'}), FALSE)" for one in earlier]
    return " AND ".join([*others, *([f"({clause.condition})"] if clause.condition else [])])


def _made(table: Table, clause: When) -> list[str]:
    """What columns get, each as the table's: values of SQL are cast as an assignment is."""
    types = {one.name: one.type for one in table.schema}
    given = (clause.texts or {}).items()
    return [f"CAST(({text}) AS {ddl(types[name])}) AS {quoted([f'set {name}'])}" for name, text in given]
