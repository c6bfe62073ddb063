"""A pipeline in a notebook: which program, how far it is, what its views hold, what sinks lack."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape

import pyarrow as pa

from dbsp.views.html import html_table


def shown(
    program: str,
    step: int,
    clock: datetime | None,
    views: Mapping[str, int],
    undelivered: Mapping[str, int],
) -> str:
    """views: how many rows each has. undelivered: how many steps each sink is without."""
    at = "" if clock is None else f", {clock:%Y-%m-%d %H:%M:%S %Z}"
    parts = [html_table(f"{program}, step {step}{at}", _columns("view", "rows", views), len(views))]
    lacking = {sink: steps for sink, steps in undelivered.items() if steps}
    if lacking:
        parts.append(html_table("undelivered", _columns("sink", "steps", lacking), len(lacking)))
    return "".join(parts)


def closed(program: str) -> str:
    """Of one that can't be asked any more."""
    return f"<p>{escape(program)}, closed</p>"


def _columns(name: str, counted: str, counts: Mapping[str, int]) -> pa.RecordBatch:
    columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
    return pa.RecordBatch.from_arrays(columns, names=[name, counted])
