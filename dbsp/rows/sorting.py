"""One order of rows for all who look: an ORDER BY, then column by column, NULL first, NaN the greatest.

It is the order of `circuits/columns/sorting.py`, in which every operator has its rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.circuits.columns.sorting import pack, sort_keys, sort_words
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.calls import SortOrder


def sort_rows(delta: ZSet, order: Sequence[SortOrder] = ()) -> ZSet:
    """The same Z-set, listed in an order over its columns, then in order of rows, then weights.

    Raises EvaluationError where a row has no value to be ordered by, as in ORDER BY 1 / x.
    """
    if len(delta) < 2:
        return delta
    keys = [
        key
        for by in order
        for key in sort_keys(evaluate(by.expression, delta.rows), by.descending, by.nulls_last)
    ]
    keys += [key for column in delta.rows.columns for key in sort_keys(column, exact=True)]
    return delta.take(sort_words(pack([*keys, delta.weights]), len(delta))[0])
