"""What `dbsp run` prints after every step.

live-table   on a terminal one picture redrawn in place; elsewhere a line a step
table        the views that changed, whole (their first rows)
csv, json    the changelog
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import numpy as np
import pyarrow as pa

from dbsp.changelog import json_lines
from dbsp.changes import Changes
from dbsp.io.live import LiveTable
from dbsp.io.progress import Progress
from dbsp.io.text_table import fields, text_table
from dbsp.pipeline import Pipeline
from dbsp.sorting import sort_rows
from dbsp.view import Contents

OUTPUTS = ("live-table", "table", "csv", "json")
TABLE_ROWS = 20


class Display:
    """Shows nothing but notes, which go to stderr."""

    def __init__(self, pipeline: Pipeline, out: TextIO) -> None:
        self.pipeline, self.out = pipeline, out

    def step(self, changes: Changes) -> None:
        """Show what a step changed."""

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class Json(Display):
    def step(self, changes: Changes) -> None:
        self.out.writelines(line + "\n" for line in json_lines(changes))
        self.out.flush()


class Csv(Display):
    """Lines of `__step,__view,__weight` and the view's columns; a header line wherever the view changes."""

    view = ""

    def step(self, changes: Changes) -> None:
        writer = csv.writer(self.out, lineterminator="\n")
        for view in sorted(changes):
            delta = changes[view].zset
            if len(delta):
                if view != self.view:
                    writer.writerow(["__step", "__view", "__weight", *delta.schema.names])
                    self.view = view
                columns = [fields(column, null="") for column in delta.rows.columns]
                writer.writerows(
                    [changes.step, view, weight, *values]
                    for *values, weight in zip(*columns, delta.weights.tolist(), strict=True)
                )
        self.out.flush()


class Table(Display):
    def step(self, changes: Changes) -> None:
        for view in sorted(changes):
            if len(changes[view]):
                contents = self.pipeline[view]
                size = len(contents)
                of = f", {TABLE_ROWS} of {size:,} rows" if size > TABLE_ROWS else ""
                self.out.write(f"step {changes.step}: {view}{of}\n")
                self.out.writelines(line + "\n" for line in text_table(first_rows(contents)))
        self.out.flush()


class Lines(Display):
    """The live table where nothing can be redrawn: a line a step."""

    def __init__(self, pipeline: Pipeline, out: TextIO, expected: int | None) -> None:
        super().__init__(pipeline, out)
        self.progress = progress_of(pipeline, expected)

    def step(self, changes: Changes) -> None:
        self.progress.add(changes)
        views = "".join(f"   {view} {size:,}" for view, size in self.progress.sizes.items())
        self.out.write(f"{self.progress.line()}{views}\n")
        self.out.flush()


class Live(Display):
    def __init__(self, pipeline: Pipeline, out: TextIO, expected: int | None) -> None:
        super().__init__(pipeline, out)
        self.table = LiveTable(pipeline.program.name, progress_of(pipeline, expected))

    def step(self, changes: Changes) -> None:
        self.table.step(changes)

    def note(self, text: str) -> None:
        self.table.note(text)


@contextmanager
def display(output: str, pipeline: Pipeline, expected: int | None) -> Iterator[Display]:
    """The display of that name, on stdout. expected: how many steps there will be, or None."""
    if output == "live-table" and sys.stdout.isatty():
        live = Live(pipeline, sys.stdout, expected)
        with live.table:
            yield live
    elif output == "live-table":
        yield Lines(pipeline, sys.stdout, expected)
    else:
        yield {"table": Table, "csv": Csv, "json": Json}[output](pipeline, sys.stdout)


def first_rows(contents: Contents) -> pa.RecordBatch:
    """The first of the sorted rows, each as often as it is there."""
    rows = sort_rows(contents.zset)
    return rows.take(np.repeat(np.arange(len(rows)), rows.weights)[:TABLE_ROWS]).rows


def progress_of(pipeline: Pipeline, expected: int | None) -> Progress:
    """The views as they are, and nothing done yet."""
    views = [output.view for output in pipeline.program.circuit.outputs]
    return Progress({view: len(pipeline[view]) for view in views}, expected, pipeline.last_step)
