"""Queries that differ in their literals only, compiled once.

    SELECT * FROM v WHERE a > 5 AND s = 'x'   is of the shape   SELECT * FROM v WHERE a > ?int AND s = ?string

A shape says the type of each literal, and which of them are equal: the analyser sees both, and takes some
queries only because two are (GROUP BY a + 5 of SELECT a + 5). One that it takes though they aren't equal
means the same where they happen to be, so that its plan serves for both (`Shape.apart`). What else a plan
depends on Catalyst says (`Parameters.java`): of a *fixed* literal the value, of a *sized* one the number of
its digits. So a compiled query is known by its shape and these, and the *free* literals are holes in it.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from dbsp.circuits.expressions.nodes import Literal
from dbsp.sql.compiler.cache import Relations, read_entry, write_entry
from dbsp.sql.plans.parameters import parameter_of
from dbsp.sql.plans.program import Program
from dbsp.sql.text.literals.holes import HOLE, filled
from dbsp.sql.text.literals.shape import FIXED, FREE, SIZED, Shape
from dbsp.sql.text.literals.written import Written
from dbsp.sql.text.source import Source, as_it_is

Value = TypeVar("Value")
# in memory; names of entries on disk
_KEPT = 256
_PLAN, _SHAPE = "plan of a shape", "shape"


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query with holes. kinds: of each number."""

    kinds: tuple[str, ...]
    pickled: bytes

    def filled(self, shape: Shape, source: Source) -> Program:
        """The program of a query of the shape. Cost: that of unpickling it."""
        program = _Filling(self.pickled, shape.values, source).load()
        assert isinstance(program, Program), program
        return replace(program, text=source.text)


def plan_of(program: Program, shape: Shape, found: Mapping[str, Sequence[int]]) -> Plan:
    """found: what Parameters.java says."""
    free, sized = set(found["free"]), set(found["sized"])
    kinds = tuple(
        SIZED if number in sized else FREE if number in free else FIXED for number in sorted({*shape.numbers})
    )
    into = io.BytesIO()
    _Emptying(into, pickle.HIGHEST_PROTOCOL).dump(program)
    return Plan(kinds, into.getvalue())


class Shapes:
    """Compiled queries by shape: those that were asked last here, all of them in the cache of programs."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[object, list[tuple[str, ...]]] = OrderedDict()
        self._plans: OrderedDict[object, Plan] = OrderedDict()

    def plan(self, shape: Shape, timezone: str, relations: Relations) -> Plan | None:
        """The one that the query fits into, if there is one."""
        for kinds in self._kinds_of(shape, timezone, relations):
            known = shape.known_by(kinds)
            plan = self._plans.pop((known, timezone, relations), None)
            if plan is None:
                found = read_entry(as_it_is(known, _PLAN), timezone, relations=relations)
                plan = found if isinstance(found, Plan) else None
            if plan is not None:
                _put(self._plans, (known, timezone, relations), plan)
                return plan
        return None

    def keep(self, plan: Plan, shape: Shape, timezone: str, relations: Relations) -> None:
        known = shape.known_by(plan.kinds)
        write_entry(plan, as_it_is(known, _PLAN), timezone, relations=relations)
        _put(self._plans, (known, timezone, relations), plan)
        kinds = self._kinds_of(shape, timezone, relations)
        if plan.kinds not in kinds:
            kinds = [*kinds, plan.kinds]
            write_entry(kinds, as_it_is(shape.text, _SHAPE), timezone, relations=relations)
            _put(self._kinds, (shape.text, timezone, relations), kinds)

    def _kinds_of(self, shape: Shape, timezone: str, relations: Relations) -> list[tuple[str, ...]]:
        kinds = self._kinds.pop((shape.text, timezone, relations), None)
        if kinds is None:
            found = read_entry(as_it_is(shape.text, _SHAPE), timezone, relations=relations)
            kinds = found if isinstance(found, list) else []
        _put(self._kinds, (shape.text, timezone, relations), kinds)
        return kinds


def _put(kept: OrderedDict[object, Value], key: object, value: Value) -> None:
    kept[key] = value
    if len(kept) > _KEPT:
        kept.popitem(last=False)


class _Emptying(pickle.Pickler):
    """Leaves holes for parameters, and for what is said of them."""

    def persistent_id(self, value: Any) -> Any:
        return (value if HOLE in value else None) if type(value) is str else parameter_of(value)


class _Filling(pickle.Unpickler):
    def __init__(self, pickled: bytes, values: Mapping[int, Written], source: Source) -> None:
        super().__init__(io.BytesIO(pickled))
        self._values, self._source = values, source

    def persistent_load(self, hole: Any) -> Any:
        if isinstance(hole, str):
            return filled(hole, self._spelled)
        number, negative = hole
        value: Any = self._values[number].value
        if negative:  # a Decimal's minus would round it to the context's digits
            value = value.copy_negate() if isinstance(value, Decimal) else -value
        return Literal(value, self._values[number].type)

    def _spelled(self, number: int) -> str:
        one = self._values[number]
        return self._source.text[one.start : one.stop]
