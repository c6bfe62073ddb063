"""What a step shows as lines: of a changelog, or of the views that it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from dbsp.commands.shown.changelog import CsvLines, json_lines, text_lines
from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.changes import Changes
from dbsp.views.shapes import Shape

Listing = Callable[[Changes], Iterator[str]]


def listing(pipeline: Pipeline, output: str, changelog: str) -> Listing:
    """output: text, json, csv or table. changelog: of `SHAPES`, which a table doesn't have.

    Raises ProgramError where a view has no changelog of that shape.
    """
    if output == "table":
        from dbsp.commands.shown.text_table import view_tables  # noqa: PLC0415

        return partial(view_tables, pipeline)
    shape = Shape.of(changelog, pipeline.program)
    if output == "csv":
        return CsvLines(shape)
    return partial(json_lines if output == "json" else text_lines, shape=shape)
