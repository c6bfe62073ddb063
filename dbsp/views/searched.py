"""What is asked of a view's rows: those of a key, those with some values, and why they are there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.indexes.hash_index import hashed_among, hashes_of
from dbsp.views.indexes.index import FEW, Bound
from dbsp.views.search import Asker, Indexes, positions

if TYPE_CHECKING:
    from dbsp.views.derivation import Why

# of the columns asked, the values they have, and the rows that have them
Explain = Callable[[Sequence[int], Bound, ZSet], "Why"]


class Searched(ABC):
    """The half of a view's contents that finds rows."""

    view: str
    schema: pa.Schema
    _parts: list[ZSet]
    _chunks: Sequence[Chunk]
    _indexes: Indexes | None
    _explain: Explain | None
    _order: Sequence[SortOrder]

    @abstractmethod
    def _of(self, parts: list[ZSet], order: Sequence[SortOrder]) -> Self:
        """Some of the rows, in an order."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Every row as often as it is there, in the order of the rows."""

    def lookup(self, key: Any) -> list[dict[str, Any]]:
        """The rows of a key: of a view whose key is known, one or none.

        key: a value, or a tuple of as many as the key has columns: those of GROUP BY, a PRIMARY KEY or a
        DISTINCT; or a dict of any columns. Equal is as in GROUP BY, so that None finds NULL.

        Examples:
            >>> p["turnover"].lookup("Ada"), p["turnover"].lookup({"total": 8})
            ([{'buyer': 'Ada', 'total': 5}], [])

        Cost: O(log n) in an index of a view of few rows (see `index.FEW`), which follows what steps change,
        and which the first lookup makes; of more rows in hashes of each chunk, which the second lookup sorts;
        by a FLOAT, DOUBLE or nested column a search through all rows in Arrow. Raises DataError.
        """
        values = self._asker.values(key)
        bound = self._asker.bound(values)
        return self._between(tuple(values), bound, bound)

    def where(self, values: Mapping[str, Any]) -> Self:
        """The rows that have these values, equal as in `lookup`.

        Examples:
            >>> p["turnover"].where({"total": 7}).to_arrow().to_pylist()
            [{'buyer': 'Bob', 'total': 7}]

        Cost: as of `lookup` in a view of many rows. Raises DataError.
        """
        asked = self._asker.values(values)
        bound = self._asker.bound(asked)
        parts = self._searched(tuple(asked), bound, bound)
        return self._of(parts, self._order)

    def among(self, columns: Sequence[int], wanted: pa.RecordBatch, most: int) -> list[ZSet] | None:
        """Parts with all rows that have in these columns the values of some row of `wanted`, and few others.

        NULL is equal to NULL. wanted: as many columns, of the same types, or integers of another width. None:
        such rows are more than `most`, or hashes don't tell them, as of a DOUBLE. Cost: O(log n) a wanted row
        in the hashes of each chunk, which the second time sorts; of a small chunk, of hashing its columns.
        """
        if not columns or hashed_among(self.schema, columns) != [*columns]:
            return None
        hashes = np.unique(hashes_of(_each_once(wanted), range(len(columns))))
        found, count = [], 0
        for i, part in enumerate(self._parts):
            there = None
            if self._indexes is not None:
                there = self._indexes.hashes.candidates(self._chunks[i], part, columns, hashes)
            if there is None:
                (there,) = np.isin(hashes_of(part, columns), hashes).nonzero()
            count += len(there)
            if count > most:
                return None
            found.append((part, there))
        return [part.take(there) for part, there in found]

    def has_index(self, values: Mapping[str, Any]) -> bool:
        """Whether `where` by these columns finds rows without a look at each row of a large chunk.

        Raises DataError.
        """
        columns = tuple(self._asker.values(values))
        known = self._indexes
        return known is not None and all(
            known.hashes.has(chunk, len(part), columns)
            for chunk, part in zip(self._chunks, self._parts, strict=True)
        )

    def why(self, key: Any) -> Why:
        """The rows of the tables that the rows of a key follow from, operator by operator.

        Examples:
            >>> p["turnover"].why("Ada").tables["sale"].to_pylist()
            [{'id': 1, 'buyer': 'Ada', 'price': 5}]

        key: as of `lookup`. Where no row has it, the answer is the first operator at which it is lost. Cost:
        of the rows that are looked at: those of the row's own groups, partitions and partners, where a trace
        lies by what is asked; a search through the trace where none does. Raises DataError for the key.
        """
        values = self._asker.values(key)
        if self._explain is None:
            raise DataError(
                f"'{self.view}' is no view of a pipeline, so nothing knows what its rows follow from"
            )
        bound = self._asker.bound(values)
        rows = ZSet.sum(self._stored_schema, self._searched(tuple(values), bound, bound)).consolidate()
        return self._explain(tuple(values), bound, rows)

    @property
    def _stored_schema(self) -> pa.Schema:
        return self._parts[0].schema if self._parts else self.schema

    def between(self, low: Any = None, high: Any = None, by: str | None = None) -> list[dict[str, Any]]:
        """The rows from one value of a column to another, both included, in the column's order.

        by: the column; the first one of the key unless given. None: no bound. NULL is between nothing, as in
        SQL; without bounds it comes first. Cost and errors as of `lookup`.

        Examples:
            >>> p["turnover"].between(6, None, by="total")
            [{'buyer': 'Bob', 'total': 7}]
        """
        column = self._asker.key_columns()[0] if by is None else self._asker.column(by)
        low, high = (None if value is None else self._asker.bound({column: value}) for value in (low, high))
        return self._between((column,), low, high)

    @cached_property
    def _asker(self) -> Asker:
        known = self._indexes
        key, timezone = (None, "UTC") if known is None else (known.key(self.view), known.program.timezone)
        return Asker(self.view, self.schema, key, timezone)

    def _between(
        self, columns: tuple[int, ...], low: Bound | None, high: Bound | None
    ) -> list[dict[str, Any]]:
        if self._indexes is not None and sum(map(len, self._parts)) <= FEW:
            index = self._indexes.of(self.view, self.schema, columns)
            found = index.between(dict(zip(self._chunks, self._parts, strict=True)), low, high)
            fewer = next(((row, weight) for row, weight in found if weight < 0), None)
            if fewer is not None:
                raise less_than_never(self.view, *fewer)
            return [dict(row) for row, weight in found for _ in range(weight)]
        parts = self._searched(columns, low, high)
        order = [SortOrder(Column(i, self.schema.field(i).type)) for i in columns]
        return self._of(parts, order).rows()

    def _searched(self, columns: tuple[int, ...], low: Bound | None, high: Bound | None) -> list[ZSet]:
        if self._indexes is None or low is None or low is not high:
            return [part.take(positions(part, columns, low, high)) for part in self._parts]
        wanted = hashes_of(_each_once(low), columns)
        found = []
        for chunk, part in zip(self._chunks, self._parts, strict=True):
            among = self._indexes.hashes.candidates(chunk, part, columns, wanted)
            rows = part if among is None else part.take(among)
            found.append(rows.take(positions(rows, columns, low, low)))
        return found


def _each_once(rows: pa.RecordBatch) -> ZSet:
    return ZSet(rows, np.ones(rows.num_rows, np.int64))


def less_than_never(view: str, row: dict[str, Any], weight: int) -> DataError:
    """That a row is there less than never."""
    return DataError(
        f"view '{view}' has the row {row} {weight} times: "
        "a table WITH (unchecked = true) had more retractions than insertions"
    )
