"""collect_list, array_agg and listagg without an order, which follow the order of arrival.

    γ[k; collect_list(x)](a) = γ[k; collect_list(x) ordered by arrival](a with its arrival)

so that first(x) = collect_list(x)[0]. DISTINCT ones have no order of arrival: a value is of many rows. What
sorts or counts a list doesn't show its order, and then nothing keeps one. What the arrival of a row is, is
said in `arrived.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.circuits.functions.collections.array_sort import is_by_value
from dbsp.sql.plans.calls import AggregateCall

_LISTS = ("collect_list", "listagg")
# the same of an array's values in any order: by the place of the array among the arguments
_INDIFFERENT = {
    "array_contains": (0,),
    "array_exists": (0,),
    "array_for_all": (0,),
    "array_max": (0,),
    "array_min": (0,),
    "array_sort": (0,),
    "arrays_overlap": (0, 1),
    "size": (0,),
    "sort_array": (0,),
}
# in another order the same values, in another order
_KEEPING = {"array_distinct": (0,)}


def is_list(call: AggregateCall) -> bool:
    """Whether it lists values, and says no order of its own."""
    return call.function in _LISTS and not call.distinct and not call.option("order")


def listed(call: AggregateCall, arrival: Sequence[Column]) -> AggregateCall:
    """The same in the order of arrival."""
    start = len(call.arguments)
    order = tuple((start + i, False, False) for i in range(len(arrival)))
    options = tuple(sorted((dict(call.options) | {"order": order}).items()))
    return replace(call, arguments=(*call.arguments, *arrival), options=options)


def seen_in_order(results: Iterable[Expression]) -> set[int]:
    """The columns of which the results may show in which order their values are."""
    return {column for result in results for column in _seen(result, in_order=True)}


def _seen(expression: Expression, in_order: bool) -> Iterator[int]:
    if isinstance(expression, Column) and in_order:
        yield expression.index
    if not isinstance(expression, Call):
        return
    indifferent = () if _breaks_ties(expression) else _INDIFFERENT.get(expression.function, ())
    keeping = _KEEPING.get(expression.function, ())
    for i, argument in enumerate(expression.arguments):
        yield from _seen(argument, i not in indifferent and (in_order or i not in keeping))


def _breaks_ties(call: Call) -> bool:
    """A sort by anything but the values leaves ties as they are."""
    return call.function == "array_sort" and not is_by_value(call.arguments[1])
