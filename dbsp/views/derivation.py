"""Why a row is in a view: the rows that it follows from, operator by operator, down to the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.json_text import objects
from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.views.shown import shown

# rows of a relation that are shown, in text and as plain values; all are there
SHOWN, LISTED = 5, 1000
_STEM = "  "


@dataclass(frozen=True)
class Derivation:
    """One operator, or the relation that it reads.

    operator: what it does. relation: the table or view, in place of an operator. rows: those that count, of
    its output. inputs: what they follow from. note: what is not known below it, or is not there. is_lost: of
    a row that isn't there: here nothing is left of what could have led to it.
    """

    operator: str
    relation: str
    rows: ZSet
    inputs: tuple[Derivation, ...] = ()
    note: str = ""
    is_lost: bool = False
    is_table: bool = False
    near: ZSet | None = None

    def batch(self) -> pa.RecordBatch:
        """The rows, each as often as it is there, in order."""
        return repeated(sort_rows(self.rows))

    def walk(self) -> Iterator[Derivation]:
        """It and all below it, from above."""
        stack = [self]
        while stack:
            one = stack.pop()
            yield one
            stack += reversed(one.inputs)

    def to_json(self, limit: int, offset: int = 0) -> dict[str, Any]:
        """As plain values, of at most so many rows each, after those that are left out."""
        said: dict[str, Any] = {"relation": self.relation} if self.relation else {"operator": self.operator}
        said["count"] = int(self.rows.weights.sum())
        said["rows"] = _read(self.batch().slice(offset, limit))
        if self.note:
            said["note"] = self.note
        if self.near is not None and len(self.near):
            near = repeated(sort_rows(self.near)).slice(0, limit)
            said["near"] = _read(near)
        if self.is_lost:
            said["lost"] = True
        if self.inputs:
            said["inputs"] = [one.to_json(limit, offset) for one in self.inputs]
        return said

    def lines(self, depth: int = 0, limit: int = SHOWN, offset: int = 0) -> Iterator[str]:
        """For people; limit, offset: of the rows of each relation."""
        stem = _STEM * depth
        count = int(self.rows.weights.sum())
        name = self.relation or self.operator
        lost = "   <- lost here" if self.is_lost else ""
        yield f"{stem}{name}   [{count:,} row{'' if count == 1 else 's'}]{lost}"
        if self.relation or not self.inputs:
            yield from _rows(self.batch(), stem, limit, offset)
        if self.near is not None and len(self.near):
            yield f"{stem}| these come near:"
            yield from _rows(repeated(sort_rows(self.near)), stem, limit, 0)
        if self.note:
            yield f"{stem}| {self.note}"
        for one in self.inputs:
            yield from one.lines(depth + 1, limit, offset)


def _read(rows: pa.RecordBatch) -> list[Any]:
    """As plain values."""
    return [json.loads(line) for line in objects(shown(rows))]


def _rows(batch: pa.RecordBatch, stem: str, limit: int, offset: int) -> Iterator[str]:
    if offset > 0 and batch.num_rows:
        yield f"{stem}| ... after {min(offset, batch.num_rows):,}"
    for line in objects(shown(batch.slice(offset, limit))):
        yield f"{stem}| {line}"
    if batch.num_rows > offset + limit:
        yield f"{stem}| ... and {batch.num_rows - offset - limit:,} more"


def repeated(rows: ZSet) -> pa.RecordBatch:
    """Every row as often as it is there."""
    return rows.take(np.repeat(np.arange(len(rows)), np.maximum(rows.weights, 0))).rows


@dataclass(frozen=True)
class Why:
    """The answer to `p.why(view, key)`.

    Examples:
        >>> why = p["turnover"].why("Ada")
        >>> why.asked, why.step, why.made
        ('turnover where buyer = "Ada"', 1, 1)

    asked: the question, in words. step: after which. made: the last kept step that changed the rows.
    derivation: the rows of the view, and what they follow from. came: per table, what that step changed of
    the rows that they follow from, or did before it; {} where the step before isn't kept.
    """

    asked: str
    step: int
    made: int | None
    derivation: Derivation
    came: Mapping[str, ZSet] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, pa.Table]:
        """Per table, the rows of `came`, with their `__weight`.

        Examples:
            >>> p.why("turnover", "Ada").changes["sale"].to_pylist()
            [{'id': 1, 'buyer': 'Ada', 'price': 5, '__weight': 1}]
        """
        return {
            name: pa.Table.from_batches([batch_to_outside(sort_rows(rows).to_batch())])
            for name, rows in self.came.items()
        }

    @property
    def rows(self) -> pa.Table:
        """The rows of the view; none where there is none, and the derivation tells where it is lost.

        Examples:
            >>> p.why("turnover", "Ada").rows.to_pylist()
            [{'buyer': 'Ada', 'total': 5}]
        """
        return _table(self.derivation.rows)

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """Per table, the rows that the view's rows follow from: each as often as it is there.

        Examples:
            >>> p.why("turnover", "Bob").tables["sale"].to_pylist()
            [{'id': 2, 'buyer': 'Bob', 'price': 7}]
        """
        return {name: _table(rows) for name, rows in leaves(self.derivation).items()}

    @property
    def notes(self) -> list[str]:
        """What isn't known, or isn't there any more.

        Examples:
            >>> p.why("turnover", "Ada").notes
            []
        """
        return list(dict.fromkeys(one.note for one in self.derivation.walk() if one.note))

    @property
    def lost(self) -> list[Derivation]:
        """Where a row that isn't there is lost.

        Examples:
            >>> [one.relation for one in p.why("turnover", "Eve").lost]
            ['sale']
        """
        return [one for one in self.derivation.walk() if one.is_lost]

    def to_json(self, limit: int = LISTED, offset: int = 0) -> dict[str, Any]:
        """As plain values: what was asked, and the derivation with at most so many rows an operator.

        Examples:
            >>> p.why("turnover", "Ada").to_json(limit=1)["rows"]
            [{'buyer': 'Ada', 'total': 5}]

        offset: how many of each are left out before, for a group of many rows to be read in pages.
        """
        return {
            "asked": self.asked,
            "step": self.step,
            "changed_by": self.made,
            "changes": {
                name: [
                    json.loads(line)
                    for line in objects(shown(sort_rows(rows).to_batch().slice(offset, limit)))
                ]
                for name, rows in self.came.items()
            },
            **self.derivation.to_json(limit, offset),
        }

    def text(self, limit: int = SHOWN, offset: int = 0) -> str:
        """For people; limit, offset: of the rows of each relation.

        Examples:
            >>> print(p.why("turnover", "Eve").text().splitlines()[0])
            turnover where buyer = "Eve", as of step 1
        """
        made = "" if self.made is None else f"; last changed by step {self.made}"
        lines = [f"{self.asked}, as of step {self.step}{made}", *self.derivation.lines(0, limit, offset)]
        for name, rows in self.came.items():
            lines.append(f"step {self.made} changed {name}")
            lines += _changes(rows, limit, offset)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _changes(rows: ZSet, limit: int, offset: int) -> Iterator[str]:
    in_order = sort_rows(rows)
    lines = objects(shown(in_order.rows.slice(offset, limit)))
    for line, weight in zip(lines, in_order.weights.tolist()[offset:], strict=False):
        yield f"| {weight:+d} {line}"
    if len(rows) > offset + limit:
        yield f"| ... and {len(rows) - offset - limit:,} more"


def _table(rows: ZSet) -> pa.Table:
    return pa.Table.from_batches([batch_to_outside(repeated(sort_rows(rows)))])


def leaves(derivation: Derivation) -> dict[str, ZSet]:
    """Per table, the rows that are followed from. A row that several operators read is one row."""
    found: dict[str, list[ZSet]] = {}
    for one in derivation.walk():
        if one.is_table:
            found.setdefault(one.relation, []).append(one.rows)
    return {name: most(rows) for name, rows in found.items()}


def most(parts: list[ZSet]) -> ZSet:
    """Each row as often as in the part that has it most often: parts of one relation, which overlap."""
    total = ZSet.empty(parts[0].schema)
    for part in parts:
        more = (part - total).consolidate()
        total = total + more.take(np.flatnonzero(more.weights > 0))
    return total.consolidate()
