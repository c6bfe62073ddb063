"""Joins by OR: one join for each alternative that has keys, instead of one of every pair.

    a ⋉ b ON p ∨ q = (a ⋉ b ON p) ∪ ((a ▷ b ON p) ⋉ b ON q)        a ▷ b ON p ∨ q = (a ▷ b ON p) ▷ b ON q
    a ⋈ b ON p ∨ q = (a ⋈ b ON p) ∪ (a ⋈ b ON q ∧ p isn't true)

NOT IN is such a join: a.x NOT IN (SELECT y FROM b) comes as a ▷ b ON x = y ∨ (x = y) IS NULL, and that is
x = y ∨ x IS NULL ∨ y IS NULL, an alternative with a key and two that look at one side only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression, Literal, columns_of, remap
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.sql.plans.nodes import Join, Project, Union
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, columns_of_schema

Terms = list[Expression]
# (kind, left, right, what must all be true of a pair) → the join
Conjunctive = Callable[[str, Plan, Plan, Terms], Join]
_MOST = 16


def alternatives(condition: Expression, width: int) -> list[Terms]:
    """The condition as ORs of ANDs, those with a key first; nothing if one has no key and reads both sides.

    width: how many columns the left side has.
    """
    found = _alternatives(condition)
    if not 1 < len(found) <= _MOST or not all(_is_cheap(terms, width) for terms in found):
        return []
    return sorted(found, key=lambda terms: not any(is_key(term, width) for term in terms))


def _alternatives(condition: Expression) -> list[Terms]:
    if isinstance(condition, Call):
        arguments = condition.arguments
        match condition.function:
            case "or":
                return [terms for argument in arguments for terms in _alternatives(argument)]
            case "and":
                first, second = map(_alternatives, arguments)
                if len(first) * len(second) <= _MOST:
                    return [[*a, *b] for a in first for b in second]
            case "is_null" if isinstance(arguments[0], Call) and arguments[0].function == "equal_to":
                return [[_is_null(side)] for side in arguments[0].arguments if side.nullable]
    return [[condition]]


def _is_cheap(terms: Terms, width: int) -> bool:
    return any(is_key(term, width) for term in terms) or all(len(_sides(term, width)) < 2 for term in terms)


def is_key(term: Expression, width: int) -> bool:
    """Whether it says that something of one side equals something of the other."""
    if not (isinstance(term, Call) and term.function in ("equal_to", "equal_null_safe")):
        return False
    first, second = (_sides(argument, width) for argument in term.arguments)
    return len(first) == len(second) == 1 and first != second


def _sides(term: Expression, width: int) -> set[bool]:
    return {column >= width for column in columns_of(term)}


def joined_by_any(kind: str, left: Plan, right: Plan, terms: Sequence[Terms], join: Conjunctive) -> Plan:
    """The join of that kind, its condition being any of the terms."""
    schema = join_schema(kind, left.schema, right.schema)
    if kind == "anti":
        return _without(left, right, terms, join)[0]
    if kind in ("semi", "existence"):
        rest, matched = _without(left, right, terms, join)
        if kind == "semi":
            return Union(tuple(matched), schema)
        flagged = [_beside(part, True) for part in matched] + [_beside(rest, False)]
        return Union(tuple(flagged), schema)
    parts: list[Plan] = []
    for i, own in enumerate(terms):
        parts.append(join("inner", left, right, own + [_not_true(other) for other in terms[:i]]))
    if kind in ("left", "full"):
        columns = columns_of_schema(left.schema)
        nulls = tuple(Literal(None, field.type) for field in right.schema)
        parts.append(Project(_without(left, right, terms, join)[0], (*columns, *nulls), schema))
    if kind == "full":
        width, other = len(left.schema), len(right.schema)
        position = {i: i + other if i < width else i - width for i in range(width + other)}
        exchanged = [[remap(term, position) for term in own] for own in terms]
        nulls = tuple(Literal(None, field.type) for field in left.schema)
        rest = _without(right, left, exchanged, join)[0]
        parts.append(Project(rest, (*nulls, *columns_of_schema(right.schema)), schema))
    return Union(tuple(parts), schema)


def _without(left: Plan, right: Plan, terms: Sequence[Terms], join: Conjunctive) -> tuple[Plan, list[Plan]]:
    """(the left rows that no alternative matches, those that each is the first to match)."""
    rest: Plan = left
    matched: list[Plan] = []
    for own in terms:
        matched.append(join("semi", rest, right, own))
        rest = join("anti", rest, right, own)
    return rest, matched


def _beside(plan: Plan, flag: bool) -> Project:
    schema = (*plan.schema, Field("exists", pa.bool_(), False))
    return Project(plan, (*columns_of_schema(plan.schema), Literal(flag, pa.bool_())), schema)


def _not_true(terms: Terms) -> Call:
    condition = conjunction(terms)
    assert condition is not None
    known = Call("coalesce", (condition, Literal(False, pa.bool_())), pa.bool_(), nullable=False)
    return Call("not", (known,), pa.bool_(), nullable=False)


def _is_null(expression: Expression) -> Call:
    return Call("is_null", (expression,), pa.bool_(), nullable=False)
