"""Recursive views: which ones are defined together, and what the query of one may do.

    r₀ = ∅        rᵢ₊₁ = DISTINCT query(rᵢ)        r = the least fixed point

Views that refer to each other are one *component*, computed as one fixed point. There is a least one, and it
is reached from below, if more rows of a recursive view never make fewer rows of its query: so within its
component a view may be projected, filtered, joined, united and made distinct, and nothing else. Other
components are like tables to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst.jvm.session import RELATION
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.plans.types import type_name
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, tokens_in


def relations_in(dump: Any) -> set[str]:
    """The tables and views that a dumped query reads."""
    found, todo = set[str](), [dump]
    while todo:
        inner = todo.pop()
        if isinstance(inner, list):
            todo += inner
        elif isinstance(inner, dict) and inner.get("op") == "LogicalRDD":
            found |= {metadata[RELATION] for *_, metadata in inner["out"] if RELATION in metadata}
        elif isinstance(inner, dict):
            todo += inner.values()
    return found


def complete_components(reads: Mapping[str, Set[str]]) -> list[tuple[str, ...]]:
    """The components all of whose members, and all that those depend on, are there; dependencies first.

    reads: the recursive views that are there, in order, and which recursive views they read.
    """
    below = {name: reached(name, reads) for name in reads}
    whole = [name for name in reads if below[name] <= reads.keys()]
    found = {
        tuple(other for other in whole if other == name or (other in below[name] and name in below[other]))
        for name in whole
    }
    return sorted(found, key=lambda component: (len(below[component[0]] | {component[0]}), component))


def reached(name: str, reads: Mapping[str, Set[str]]) -> set[str]:
    """What a view reads, directly and through others; itself only if it does read itself."""
    found: set[str] = set()
    todo = [name]
    while todo:
        new = reads.get(todo.pop(), frozenset[str]()) - found
        found |= new
        todo += new
    return found


def check_declared(source: Source, name: str, query: Slice, declared: Schema, plan: Plan) -> None:
    """Raises ProgramError where the query's columns aren't the declared ones."""
    if len(plan.schema) != len(declared):
        listed = ", ".join(column.name for column in declared)
        message = (
            f"recursive view '{name}' has {len(declared)} columns ({listed}), its query {len(plan.schema)}"
        )
        raise source.error(query.start, message)
    for column, found in zip(declared, plan.schema, strict=True):
        if column.type != found.type:
            types = type_name(column.type), type_name(found.type)
            message = f"column '{column.name}' of '{name}' is {types[0]}, its query gives {types[1]}; CAST it"
            raise source.error(query.start, message)
        if found.nullable and not column.nullable:
            message = f"column '{column.name}' of '{name}' is NOT NULL, its query may give NULL"
            raise source.error(query.start, message)


def too_early(source: Source, text: Slice, name: str, later: Collection[str]) -> ProgramError:
    """The error for a recursive view that is read before it is complete. later: what it waits for."""
    position = next(
        (token.start for token in tokens_in(source, text) if token.text.strip("`").lower() == name.lower()),
        text.start,
    )
    if later == {name}:
        message = f"'{name}' is defined further down; a view reads what is above it: move '{name}' up"
    else:
        listed = " and ".join(f"'{other}'" for other in sorted(later))
        message = f"'{name}' refers to {listed}, defined further down: read it below"
    return source.error(position, message)
