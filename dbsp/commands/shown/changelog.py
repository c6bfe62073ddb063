"""A pipeline's changes as lines of text, the same bytes however the steps were run.

    {"step": 1, "view": "stories_vc", "row": {"story_id": 1, "vcount": 2}, "weight": 1}

One line per record, ordered by step, view, row (see `dbsp.rows.sorting`) and weight; values are those of
`dbsp.rows.json_values`. An upsert has "op" instead of the weight, and of a deletion only the key's columns;
an append has neither.

text   for people: `step 1`, then `  stories_vc  +1  story_id=1 vcount=2`, or `U` and the like for the weight
csv    `__step,__view,__weight` (or `__op`, or nothing) and the view's columns; a header line wherever the
       view changes, so that a program of one view is one table
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from json.encoder import encode_basestring

from dbsp.circuits.columns.forms.json_text import encode, fields_of, plain
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.plans.program import DELETED, OP, STEP
from dbsp.views.changes import Changes, ViewChanges
from dbsp.views.shapes import Records, Shape

RETRACT = Shape()


def json_lines(changes: Changes, shape: Shape = RETRACT) -> Iterator[str]:
    """One line per record, without line ends."""
    for view in sorted(changes):
        yield from json_lines_of_view(changes.step, changes[view], shape)


def json_lines_of_view(step: int, changes: ViewChanges, shape: Shape = RETRACT) -> Iterator[str]:
    if not len(changes):
        return
    names = [encode_basestring(name) for name in changes.zset.schema.names]
    head = f'{{"step": {step}, "view": {encode_basestring(changes.view)}, "row": {{'
    for mark, fields in _listed(changes, shape):
        row = ", ".join([f"{names[i]}: {value}" for i, value in fields])
        tail = {"retract": f', "weight": {mark}', "upsert": f', "op": "{mark}"', "append": ""}[shape.name]
        yield f"{head}{row}}}{tail}}}"


def text_lines(changes: Changes, shape: Shape = RETRACT) -> Iterator[str]:
    """The step, then a line per record."""
    yield f"step {changes.step}"
    for view in sorted(changes):
        names = changes[view].zset.schema.names
        for mark, fields in _listed(changes[view], shape):
            row = " ".join(f"{names[i]}={plain(value)}" for i, value in fields)
            shown = f"{mark:+d}  " if isinstance(mark, int) else f"{mark}  " if mark else ""
            yield f"  {view}  {shown}{row}"


class CsvLines:
    """The lines of one step after the other. NULL is the empty text."""

    def __init__(self, shape: Shape = RETRACT) -> None:
        self.shape = shape
        self._view = ""

    def __call__(self, changes: Changes) -> Iterator[str]:
        for view in sorted(changes):
            yield from self.of_view(changes.step, changes[view])

    def of_view(self, step: int, changes: ViewChanges) -> Iterator[str]:
        if not len(changes):
            return
        mark = {"retract": [WEIGHT], "upsert": [OP], "append": []}[self.shape.name]
        view = changes.view
        if view != self._view:
            yield _row([STEP, "__view", *mark, *changes.zset.schema.names])
            self._view = view
        records = self.shape.records(view, changes.zset)
        columns = [fields_of(column, null="") for column in records.rows.columns]
        for number, marked in enumerate(_marks(records, self.shape)):
            values = [column[number] for column in columns]
            yield _row([step, view, *([marked] if mark else []), *values])


def _listed(changes: ViewChanges, shape: Shape) -> Iterator[tuple[int | str, list[tuple[int, str]]]]:
    """(weight or operation, [(column, its value as JSON), ...]) of each record."""
    if not len(changes):
        return
    records = shape.records(changes.view, changes.zset)
    columns = [encode(column) for column in records.rows.columns]
    key = shape.keys.get(changes.view) or ()
    for mark, *values in zip(_marks(records, shape), *columns, strict=True):
        if mark == DELETED:
            yield mark, [(i, values[i]) for i in sorted(key)]
        else:
            yield mark, list(enumerate(values))


def _marks(records: Records, shape: Shape) -> list[int] | list[str]:
    if shape.name == "retract":
        weights: list[int] = records.weights.tolist()
        return weights
    ops: list[str] = records.ops.to_pylist()
    return ops if shape.name == "upsert" else [""] * len(ops)


def _row(values: list[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()
