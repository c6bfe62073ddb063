"""The shapes of a changelog: a step's changes of a view as records.

    retracts(d) = (x, w, 'I' if w > 0 else 'D')   for d[x] = w
    upserts(d)  = (x, 'U' if the key of x is in d⁻ else 'I')   for x in d⁺, and
                  (key of x, NULL, ..., 'D')                   for x in d⁻ whose key isn't in d⁺

An append is a retract without retractions, each row as often as it is there. An upsert is of a view with a
key, of which each step has a row at most before and after: applied in order, its records give the view.
Cost: O(|d| log |d|).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.traces.by_key import by_key
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.program import DELETED, INSERTED, UPDATED, Program
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.sql.plans.properties.promises import to_promise
from dbsp.sql.plans.schemas import Key
from dbsp.views.outputs import output_views


@dataclass(frozen=True)
class Records:
    """rows: of the view's columns. weights: int64[n], of an upsert 1 or −1. ops: `__op` of each."""

    rows: pa.RecordBatch
    weights: np.ndarray
    ops: pa.Array

    def repeated(self) -> Records:
        """Each record as often as its weight says."""
        if (np.abs(self.weights) == 1).all():
            return self
        copies = np.repeat(np.arange(len(self.weights)), np.abs(self.weights))
        return Records(
            take(self.rows, copies), np.sign(self.weights[copies]), self.ops.take(pa.array(copies))
        )


@dataclass(frozen=True)
class Shape:
    """One shape for all views of a program. keys: of upserts, by view; None: rows are only added."""

    name: str = "retract"
    keys: Mapping[str, Key] = field(default_factory=dict)

    @staticmethod
    def of(name: str, program: Program) -> Shape:
        """Raises ProgramError at the first view that can't have it."""
        keys = view_keys(program) if name == "upsert" else {}
        for view in map(program.views.__getitem__, output_views(program)):
            if name == "append" and view.retracts:
                message = f"view '{view.name}' can take rows back, which an append can't say"
                promise = to_promise(view, program.tables, program.views)
                tables = " and ".join(f"'{table}'" for table in promise)
                cure = f", or declare {tables} WITH (append_only = true)" if promise else ""
                raise ProgramError(f"{view.location}: {message}; use --changelog retract{cure}")
            if name == "upsert" and keys[view.name] is None and view.retracts:
                message = f"view '{view.name}' has no stream key, so there is nothing to upsert by"
                raise ProgramError(f"{view.location}: {message}; use --changelog retract")
        return Shape(name, keys)

    def records(self, view: str, delta: ZSet) -> Records:
        """delta: consolidated."""
        key = self.keys.get(view)
        if key is not None:
            return upserts(delta, key)
        return retracts(delta) if self.name == "retract" else retracts(delta).repeated()


def retracts(delta: ZSet) -> Records:
    """delta: consolidated."""
    return Records(delta.rows, delta.weights, _spelled(np.where(delta.weights > 0, INSERTED, DELETED)))


def upserts(delta: ZSet, key: Sequence[int]) -> Records:
    """In the order of delta, which is consolidated; of a deletion only the key's columns, all else NULL."""
    changes, was_there = by_key(delta, key)
    ops = np.where(changes.weights < 0, DELETED, np.where(was_there, UPDATED, INSERTED))
    return Records(changes.rows, changes.weights, _spelled(ops))


def _spelled(ops: np.ndarray) -> pa.Array:
    return pa.array(ops.tolist(), pa.string())
