"""The keys of a table's rows: no two rows have one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.relational import demand_of, evaluated, matching, relation
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.nodes.join import Join, join_schema
from dbsp.sql.plans.nodes.project import selected
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Schema

# rows whose keys are looked up one by one
_FEW = 16


class KeyThere(DataError):
    """A row is inserted whose key another row has."""


@dataclass(frozen=True)
class Keys:
    """table: with a PRIMARY KEY. like: at least its rows that have in some columns what one of some rows has.
    having: those in which columns have values, as parts.
    """

    table: Table
    like: Callable[[ZSet, Sequence[int]], ZSet]
    having: Callable[[dict[str, Any]], list[ZSet]]

    @cached_property
    def _columns(self) -> list[Column]:
        schema = self.table.schema
        return [Column(i, schema[i].type, schema[i].nullable) for i in key_of(self.table)]

    def present(self, come: ZSet) -> ZSet:
        """The rows that are there with the keys of those that come. Raises KeyThere where two have one."""
        table, every = self.table, None
        if len(come) > 1:
            every = demand_of(come, table.schema, self._columns)
            if len(every.values) < len(come):
                raise KeyThere(f"table '{table.name}': two of the rows have the same key")
        if every is not None and len(come) > _FEW:
            return matching(self.like(come, key_of(table)), table.schema, [every])
        keys = come.rows.select(list(table.primary_key)).to_pylist()
        parts = [part for one in keys for part in self.having(one)]
        return ZSet.sum(arrow_schema(table), parts).consolidate()

    def check_new(self, gone: ZSet, come: ZSet) -> None:
        """Raises KeyThere where a row gets the key of another, which stays."""
        others = (self.present(come) - gone.under(arrow_schema(self.table))).consolidate()
        stay = others.take(np.flatnonzero(others.weights > 0))
        if len(stay):
            raise self.there_already(stay)

    def there_already(self, there: ZSet) -> KeyThere:
        """The error that names the first of these rows."""
        row = described(there.rows, 0, key_of(self.table))
        return KeyThere(f"table '{self.table.name}' has a row with the key {row} already")

    def apart(self, come: ZSet, there: ZSet) -> tuple[ZSet, ZSet]:
        """Of the rows that come (those with the key of one that is there, those with another)."""
        schema = self.table.schema
        met = matching(come, schema, [demand_of(there, schema, self._columns)])
        return met, (come - met).consolidate()

    def replaced(self, come: ZSet, there: ZSet, assigned: Sequence[str]) -> ZSet:
        """The rows that are there, each with the assigned columns of the one that comes with its key."""
        schema, keys = self.table.schema, tuple(self._columns)
        both, safe = join_schema("inner", schema, schema), (True,) * len(keys)
        join = Join(
            relation("come", schema), relation("there", schema), "inner", keys, keys, safe, None, both
        )
        columns = [i if one.name in assigned else len(schema) + i for i, one in enumerate(schema)]
        return evaluated(selected(join, columns, schema), {"come": come, "there": there})


def key_of(table: Table) -> list[int]:
    """The places of the columns of its PRIMARY KEY."""
    return [position(table.schema, name) for name in table.primary_key]


def position(schema: Schema, name: str) -> int:
    """The place of the column of that name."""
    return next(i for i, one in enumerate(schema) if one.name == name)
