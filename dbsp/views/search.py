"""What is asked of a view's rows by key: values of columns, checked against the view, and where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.errors import DataError, did_you_mean
from dbsp.circuits.functions.logic.comparison import equal, less_or_equal
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.casting import Refused
from dbsp.rows.literals import array_of
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.sql.plans.schemas import Key
from dbsp.sql.plans.types import type_name
from dbsp.views.indexes.hash_index import HashIndexes
from dbsp.views.indexes.index import Bound, ViewIndex
from dbsp.views.indexes.order_index import OrderIndexes


@dataclass
class Indexes:
    """Of one pipeline: those that were asked for, by view and columns."""

    program: Program
    hashes: HashIndexes = field(default_factory=HashIndexes)
    orders: OrderIndexes = field(default_factory=OrderIndexes)
    _made: dict[tuple[str, tuple[int, ...]], ViewIndex] = field(default_factory=dict)

    def of(self, view: str, schema: pa.Schema, columns: tuple[int, ...]) -> ViewIndex:
        return self._made.setdefault((view, columns), ViewIndex(schema, columns))

    def key(self, view: str) -> Key:
        """The positions of the columns that tell a view's rows apart, as far as the compiler knows."""
        return self._keys[view]

    @cached_property
    def _keys(self) -> dict[str, Key]:
        return view_keys(self.program)


@dataclass(frozen=True)
class Asker:
    """Reads what a person asks of a view. key: see `Indexes.key`. timezone: of datetimes that have none."""

    view: str
    schema: pa.Schema
    key: Key
    timezone: str

    def key_columns(self) -> tuple[int, ...]:
        """Raises DataError where the view has no key."""
        if self.key is None:
            name = self.schema.names[0]
            why = f"view '{self.view}' has no key: nothing tells its rows apart"
            raise DataError(f"{why}; name columns, as {{'{name}': ...}}")
        return self.key

    def values(self, key: Any) -> dict[int, Any]:
        """Per column what it is to be. key: a dict by column, a tuple by column of the key, or one value."""
        if isinstance(key, Mapping):
            found = {self.column(name): value for name, value in key.items()}
            if len(found) != len(key) or not found:
                raise DataError(f"view '{self.view}': {dict(key)!r} names no column, or one of them twice")
            return found
        columns = self.key_columns()
        given = key if isinstance(key, tuple) else (key,)
        if len(given) != len(columns):
            names = ", ".join(self.schema.names[i] for i in columns)
            raise DataError(
                f"view '{self.view}' has the key ({names}): give {len(columns)} values, not {len(given)}"
            )
        return dict(zip(columns, given, strict=True))

    def column(self, name: object) -> int:
        names = self.schema.names
        for i, there in enumerate(names):
            if there.lower() == str(name).lower():
                return i
        hint = did_you_mean(str(name), names)
        raise DataError(f"view '{self.view}' has no column '{name}'; columns: {', '.join(names)}{hint}")

    def bound(self, values: Mapping[int, Any]) -> Bound:
        """Raises DataError where a value is none of its column's."""
        columns = [
            self._array(i, values[i]) if i in values else pa.nulls(1, one.type)
            for i, one in enumerate(self.schema)
        ]
        schema = pa.schema([pa.field(one.name, one.type) for one in self.schema])
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _array(self, column: int, value: Any) -> pa.Array:
        one = self.schema.field(column)
        if value is not None and _holds_map(one.type):
            raise DataError(
                f"view '{self.view}', column '{one.name}' ({type_name(one.type)}): a MAP is equal to "
                "none; ask by other columns, or by what is in it, as WHERE m['key'] = ..."
            )
        try:
            return array_of([value], one.type, self.timezone)
        except Refused as refused:
            place = f"view '{self.view}', column '{one.name}' ({type_name(one.type)})"
            raise DataError(f"{place}: {value!r} doesn't fit: {refused}") from None


def _holds_map(type_: pa.DataType) -> bool:
    if pt.is_map(type_):
        return True
    return pt.is_nested(type_) and any(_holds_map(type_.field(i).type) for i in range(type_.num_fields))


def positions(rows: ZSet, columns: Sequence[int], low: Bound | None, high: Bound | None) -> np.ndarray:
    """int64[k]: where the columns are from `low` to `high`. Of several columns low and high are the same.

    Cost: O(rows), column by column in Arrow. None: no bound.
    """
    there = np.ones(len(rows), dtype=np.bool_)
    for column in columns:
        values = rows.column(column)
        if low is high and low is not None:
            asked = low.column(column)[0]
            there &= is_true(equal(values, asked) if asked.is_valid else values.is_null())
            continue
        if low is not None:
            there &= is_true(less_or_equal(low.column(column)[0], values))
        if high is not None:
            there &= is_true(less_or_equal(values, high.column(column)[0]))
    return np.flatnonzero(there)
