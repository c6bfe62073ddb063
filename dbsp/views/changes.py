"""What a step changed: plain data, valid for as long as it is held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.broken_text import listed
from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.segments.deferred import Deferred
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.running.metrics import Metrics
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.html import SHOWN, html_table


class UnknownView(ProgramError, KeyError):
    """A name that is no output view; a KeyError, so that changes are a proper Mapping."""

    __str__ = Exception.__str__


class ViewChanges:
    """A view's delta: rows and weights, sorted by row; of an ordered stream in its order.

    Examples:
        >>> p.insert("sale", [(3, "Eve", 1)])
        >>> changes = p.step()["turnover"]
        >>> changes, changes.step
        (<1 changes of turnover>, 2)
    """

    def __init__(
        self,
        view: str,
        schema: pa.Schema,
        parts: list[ZSet] | Deferred[list[ZSet]],
        order: Sequence[SortOrder] = (),
        step: int = 0,
    ) -> None:
        """step: that made them; 0: several did."""
        self.view, self.step = view, step
        self._schema = schema
        self._given = parts
        self._order = tuple(order)

    @property
    def parts(self) -> list[ZSet]:
        """As they are stored; the view's rows, under any names."""
        return self._given.get() if isinstance(self._given, Deferred) else self._given

    @cached_property
    def zset(self) -> ZSet:
        """Consolidated, in order of rows; the columns have the view's names."""
        if not self.parts:
            return ZSet.empty(self._schema)
        return self._named(sort_rows(ZSet.sum(self._stored, self.parts).consolidate(), self._order))

    @cached_property
    def added_up(self) -> ZSet:
        """The same, in no order but that of an ordered stream."""
        if self._order or not self.parts:
            return self.zset
        total = ZSet.sum(self._stored, self.parts)
        # what one task wrote is a batch, and so is consolidated
        return self._named(total if self.step and len(self.parts) == 1 else total.consolidate())

    @property
    def _stored(self) -> pa.Schema:
        return self.parts[0].schema

    def _named(self, delta: ZSet) -> ZSet:
        return delta.under(self._schema)

    def rows(self) -> list[tuple[dict[str, Any], int]]:
        """[({column: value, ...}, weight), ...]

        Examples:
            >>> p.changes_of("turnover", 1).rows()
            [({'buyer': 'Ada', 'total': 5}, 1), ({'buyer': 'Bob', 'total': 7}, 1)]
        """
        rows = listed(batch_to_outside(self.zset.rows))
        return list(zip(rows, self.zset.weights.tolist(), strict=True))

    def to_arrow(self) -> pa.Table:
        """The view's columns and an int64 column `__weight`.

        Examples:
            >>> p.changes_of("turnover", 1).to_arrow().column_names
            ['buyer', 'total', '__weight']
        """
        return pa.Table.from_batches([batch_to_outside(self.zset.to_batch())])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """So that what reads Arrow reads them, as `pl.DataFrame(changes["v"])`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return html_table(f"changes of {self.view}", self.zset.to_batch().slice(0, SHOWN), len(self))

    def __len__(self) -> int:
        return len(self.zset)

    def __repr__(self) -> str:
        return f"<{len(self)} changes of {self.view}>"


@dataclass(frozen=True, eq=False)
class Changes(Mapping[str, ViewChanges]):
    """Every output view's delta of one step, by name. `changes.metrics` says what the step did.

    Examples:
        >>> p.delete("sale", [(2, "Bob", 7)])
        >>> {view: len(changes) for view, changes in p.step().items()}
        {'turnover': 1}
    """

    step: int
    clock: datetime | None
    views: dict[str, ViewChanges]
    metrics: Metrics

    def __getitem__(self, view: str) -> ViewChanges:
        for name in (view, *self.views):
            if name.lower() == view.lower() and name in self.views:
                return self.views[name]
        raise UnknownView(f"unknown view '{view}'; views: {', '.join(self.views) or 'none'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.views)

    def __len__(self) -> int:
        return len(self.views)

    def _repr_html_(self) -> str:
        """The views that have changes."""
        return "".join(changes._repr_html_() for changes in self.views.values() if len(changes))
