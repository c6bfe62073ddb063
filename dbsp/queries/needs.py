"""Which rows of a table a circuit can do without: those that meet nothing, or that filters leave out.

    a ⋈ b = (a ⋉ b) ⋈ b                a ⋉ b = a ⋉ (b ⋉ a)
    a ▷ b = a ▷ (b ⋉ a)                σ[k = v](a) = σ[k = v](a ⋉ {v})

A *need* of a stream says of columns which values they have in every row that counts. Streams are asked from
the views down: of one that several nodes read, only what all of them need is needed. Nothing is needed of
rows for which an expression may fail, since its error is part of what is asked for.

Semijoins that leave few rows for a join are after Bernstein and Chiu, "Using Semi-Joins to Solve Relational
Queries", JACM 28(1), 1981.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.expressions.partial import can_fail
from dbsp.circuits.expressions.predicates import conjuncts
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Filter, Map, Negate, Union
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.streams import Exchange, Integrate

# what users write constants with, beside what never fails
_COMPUTED = {"cast", "add", "subtract", "multiply", "unary_minus"}
# one row, for what reads none
_ROW = pa.RecordBatch.from_arrays([pa.nulls(1)], names=[""])


@dataclass(frozen=True)
class Meets:
    """Every row that counts has in `columns` what some row of a node has in `others`, NULL as a value."""

    columns: tuple[int, ...]
    node: int
    others: tuple[int, ...]


@dataclass(frozen=True)
class Is:
    """Every row that counts has in `columns` one of these rows of constants."""

    columns: tuple[int, ...]
    values: tuple[tuple[Expression, ...], ...]


Need = Meets | Is
Needs = frozenset[Need]
_NONE: Needs = frozenset()


def needs(circuit: Circuit, wanted: Collection[int], ends: Collection[int]) -> dict[int, Needs]:
    """Per node what is needed of its rows. wanted: the nodes that are evaluated. ends: of which all rows
    count.
    """
    found: dict[int, Needs] = dict.fromkeys(ends, _NONE)
    for i in sorted(wanted, reverse=True):
        node, own = circuit.nodes[i], found.get(i, _NONE)
        for position, j in enumerate(node.inputs):
            asked = _asked(circuit, i, position, own)
            found[j] = found[j] & asked if j in found else asked
    return found


def values_of(need: Is) -> pa.RecordBatch:
    """Its rows."""
    columns = [
        pa.concat_arrays([evaluate(row[i], _ROW) for row in need.values]) for i in range(len(need.columns))
    ]
    return pa.RecordBatch.from_arrays(columns, names=[str(column) for column in need.columns])


def _asked(circuit: Circuit, i: int, position: int, own: Needs) -> Needs:
    """What a node needs of one of its inputs, where `own` is needed of itself."""
    if i in circuit.loop_of:
        return _NONE
    node = circuit.nodes[i]
    match node.operator:
        case Exchange() | Union() | Negate():
            return own
        case Integrate(keeps_rows=True):
            return own
        case Filter(condition=condition):
            parts = conjuncts(condition)
            before = list(takewhile(lambda part: not _fails(part), parts))
            # the others are asked of no row for which one before is false
            return own | _said(parts) if before == parts else _said(before, never_null=True)
        case Map(expressions=expressions):
            places = {at: column for at, e in enumerate(expressions) if (column := _column(e)) is not None}
            return _NONE if any(map(_fails, expressions)) else _moved(own, places)
        case Join(columns=columns, residual=residual) as join:
            places = {at: column for at, (side, column) in enumerate(columns) if side == position}
            above = _NONE if residual is not None and _fails(residual) else _moved(own, places)
            return above | _partners(circuit, join, node.inputs, position)
        case SemiJoin(anti=anti) | ComparedSemiJoin(anti=anti) as join:
            if position == RIGHT:
                return _partners(circuit, join, node.inputs, RIGHT)
            return own | (_NONE if anti else _partners(circuit, join, node.inputs, LEFT))
    return _NONE


def _keys(join: Operator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns of both sides that are equal in rows that meet."""
    match join:
        case Join(left_key=left, right_key=right) | SemiJoin(left_on=left, right_on=right):
            return left, right
        case ComparedSemiJoin(left_key=left):
            return left, tuple(range(len(left)))
    raise AssertionError(f"no join: {join}")


def _partners(circuit: Circuit, join: Operator, inputs: Sequence[int], side: int) -> Needs:
    """That the rows of a side meet one of the other."""
    keys = _keys(join)
    if not keys[side]:
        return _NONE
    need = Meets(keys[side], inputs[1 - side], keys[1 - side])
    return frozenset([need, *_implied(circuit, need)])


def _implied(circuit: Circuit, need: Meets) -> Iterator[Meets]:
    """What follows where the rows that are met are halves of pairs: each has the key of its partner."""
    i, places = need.node, dict(zip(need.others, need.columns, strict=True))
    while True:
        node = circuit.nodes[i]
        match node.operator:
            case Exchange() | Filter() | Integrate(keeps_rows=True):
                (i,) = node.inputs
            case Map(expressions=expressions):
                (i,) = node.inputs
                plain = ((at, e) for at, e in enumerate(expressions) if at in places)
                places = {e.index: places[at] for at, e in plain if isinstance(e, Column)}
            case Join(columns=columns) as join:
                there = {columns[at]: column for at, column in places.items()}
                for side, key in enumerate(_keys(join)):
                    known = [there.get((side, column)) for column in key]
                    found = tuple(column for column in known if column is not None)
                    if key and len(found) == len(key):
                        yield Meets(found, node.inputs[1 - side], _keys(join)[1 - side])
                return
            case _:
                return


def _moved(own: Needs, places: dict[int, int]) -> Needs:
    """What is needed of some columns, where those lie below. What others are needed for isn't said."""
    return frozenset(
        replace(need, columns=tuple(places[column] for column in need.columns))
        for need in own
        if places.keys() >= set(need.columns)
    )


def _said(parts: Sequence[Expression], never_null: bool = False) -> Needs:
    """What conditions say of columns: all equal to constants at once, and each that is one of several.

    never_null: only of columns that aren't.
    """
    equal: dict[int, Expression] = {}
    found: list[Need] = []
    for part in parts:
        if not isinstance(part, Call) or not part.arguments:
            continue
        first, *others = part.arguments
        if part.function == "equal_to" and not isinstance(first, Column):
            first, others = others[0], [first]
        if not isinstance(first, Column) or not all(map(_is_constant, others)):
            continue
        if any(other.type != first.type for other in others) or (never_null and first.nullable):
            continue
        if part.function == "equal_to":
            equal.setdefault(first.index, others[0])
        elif part.function in ("in", "in_set"):
            found.append(Is((first.index,), tuple((other,) for other in others)))
    return frozenset([*found, *([Is(tuple(equal), (tuple(equal.values()),))] if equal else [])])


def _column(expression: Expression) -> int | None:
    """The column whose value it is, if only in a wider type."""
    if isinstance(expression, Call) and _widens(expression):
        (expression,) = expression.arguments
    return expression.index if isinstance(expression, Column) else None


def _widens(call: Call) -> bool:
    """Whether it is a cast of integers that loses none."""
    if call.function != "cast" or not isinstance(call.arguments[0], Column):
        return False
    before, after = call.arguments[0].type, call.type
    return bool(pt.is_integer(before) and pt.is_integer(after) and before.bit_width <= after.bit_width)


def _is_constant(expression: Expression) -> bool:
    """Whether it reads no column, and has a value that costs nothing to know."""
    if not _is_of_literals(expression):
        return False
    try:
        evaluate(expression, _ROW)
    except EvaluationError:
        return False
    return True


def _is_of_literals(expression: Expression) -> bool:
    if isinstance(expression, Call):
        is_known = expression.function in _COMPUTED or not can_fail(_over_columns(expression))
        return is_known and all(map(_is_of_literals, expression.arguments))
    return isinstance(expression, Literal)


def _fails(expression: Expression) -> bool:
    """Whether some row may have no value."""
    if not can_fail(expression) or _is_constant(expression):
        return False
    if isinstance(expression, Call) and (_widens(expression) or not can_fail(_over_columns(expression))):
        return any(map(_fails, expression.arguments))
    return True


def _over_columns(call: Call) -> Call:
    """The call, with columns in place of what it is called with."""
    columns = tuple(Column(i, argument.type) for i, argument in enumerate(call.arguments))
    return replace(call, arguments=columns)
