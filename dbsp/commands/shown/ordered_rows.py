"""The first rows of a view in its order, kept up to date by what its steps change.

    rows' = rows + delta        O(|delta| log |rows|) a step, and no look at the view

Only of a view of few rows: whoever wants more asks `dbsp query`.
"""

from __future__ import annotations

from itertools import islice, repeat

import pyarrow as pa
from sortedcontainers import SortedDict

from dbsp.circuits.columns.forms.json_text import fields_of
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.traces.zset import ZSet
from dbsp.commands.shown.text_table import to_the_right
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.order_keys import order_keys

FEW = 5_000


class OrderedRows:
    """why_not: what to say instead of the rows, or ''."""

    def __init__(self, pipeline: Pipeline, view: str) -> None:
        self.view = view
        self._pipeline = pipeline
        self._order = pipeline.program.views[view].order
        schema = pipeline.program.views[view].schema
        self.names = [field.name for field in schema]
        self.to_the_right = [to_the_right(field.type) for field in schema]
        self.why_not = ""
        self._rows: SortedDict = SortedDict()
        self._start(len(pipeline[view]))

    def step(self, delta: ZSet, size: int) -> None:
        """delta: what a step changed. size: the rows that there are now."""
        if self.why_not or size > FEW or len(delta) > FEW:
            self._start(size)
        else:
            self._add(delta)

    def first(self, count: int) -> list[list[str]]:
        """The texts of at most so many rows, each as often as it is there."""
        copies = (row for weight, row in self._rows.values() for row in repeat(row, weight))
        return list(islice(copies, count))

    def _start(self, size: int) -> None:
        """From the view's contents. A view that was too large is read again once it is half of that."""
        too_many = "too many rows to keep in order here; `dbsp query` lists them"
        if size > (FEW // 2 if self.why_not else FEW):
            self._rows.clear()
            self.why_not = self.why_not or too_many
            return
        self._rows.clear()
        self.why_not = ""
        self._add(self._pipeline[self.view].zset)

    def _add(self, delta: ZSet) -> None:
        columns = delta.rows.columns[: len(self.names)]  # behind them: the state of an emitted result
        rows = pa.RecordBatch.from_arrays(columns, names=self.names)
        try:
            keys = order_keys(rows, self._order)
        except EvaluationError as error:
            self._rows.clear()
            self.why_not = f"in no order: {error}"
            return
        texts = zip(*(fields_of(column) for column in columns), strict=True)
        for key, weight, text in zip(keys, delta.weights.tolist(), texts, strict=True):
            before, _ = self._rows.get(key, (0, text))
            if before + weight:
                self._rows[key] = (before + weight, list(text))
            else:
                del self._rows[key]
