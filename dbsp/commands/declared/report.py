"""What a person sees of a run: lines as `spark-pipelines` prints them, and a table of datasets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from dbsp.commands.process.logs import formatter, log
from dbsp.declared.asked import Asked
from dbsp.declared.project.datasets import Dataset, Project, shown
from dbsp.declared.project.program import Compiled
from dbsp.declared.refresh import RECOMPUTED, UNCHANGED, Done, Unmet

_HEADS = ("dataset", "kind", "kept", "rows in", "rows out", "bytes", "seconds", "full refresh")


def said(message: str, **fields: object) -> None:
    """With the time before it; by `--log json` it is a record, too, with these fields."""
    click.echo(f"{datetime.now():%Y-%m-%d %H:%M:%S}: {message}")
    if formatter() is not None:
        log.info("%s", message, extra={"fields": fields})


def report(done: Sequence[Done]) -> None:
    """Of a refresh."""
    for one in done:
        said(f"Flow {shown(one.dataset.name)} has COMPLETED.", **_fields(one))
    for line in table([_HEADS, *map(_line, done)]):
        click.echo(line)
    for unmet in dict.fromkeys(unmet for one in done for unmet in one.unmet if unmet.rows or unmet.more):
        _say_unmet(unmet)


def _say_unmet(unmet: Unmet) -> None:
    """Of rows that aren't as they are expected to be."""
    name = shown(unmet.dataset)
    which = "rows are left out, which" if unmet.dropped else "rows"
    said(
        f"{name}: {unmet.rows} {which} do not meet the expectation {unmet.expectation} ({unmet.more:+}).",
        dataset=name,
        expectation=unmet.expectation,
        rows=unmet.rows,
        more=unmet.more,
        dropped=unmet.dropped,
    )


def plan_lines(project: Project, compiled: Compiled, asked: Asked) -> Iterator[str]:
    """Of each dataset how it will be kept, and why."""
    rows = [("dataset", "kind", "kept", "why")]
    for dataset in project.datasets:
        rows.append((shown(dataset.name), dataset.kind, *_plan(compiled, dataset, asked)))
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """In columns; numbers end them."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            text.rjust(width) if text[:1].isdigit() else text.ljust(width)
            for text, width in zip(row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _fields(one: Done) -> dict[str, object]:
    written = one.written
    return {
        "dataset": shown(one.dataset.name),
        "kind": one.dataset.kind,
        "kept": one.how,
        "rows_in": written.inserted,
        "rows_out": written.retracted,
        "bytes": written.bytes,
        "seconds": round(one.seconds, 3),
        "full_refresh_seconds": round(one.full, 3),
    }


def _line(one: Done) -> tuple[str, ...]:
    written = one.written
    full = f"{one.full:.2f}" if one.full else ""
    numbers = (f"{written.inserted}", f"{written.retracted}", f"{written.bytes}", f"{one.seconds:.2f}", full)
    return shown(one.dataset.name), one.dataset.kind, one.how, *numbers


def _plan(compiled: Compiled, dataset: Dataset, asked: Asked) -> tuple[str, str]:
    why = compiled.refused.get(dataset.name)
    if why is not None:
        return (RECOMPUTED if not dataset.is_streaming and asked.may_recompute(dataset) else "refused"), why
    if dataset.is_sink:
        return "sent", f"its rows are never taken back: those of a step go to {dataset.format}"
    if dataset.only_grows and compiled.meets_tables(dataset):
        return "appended", "its rows meet tables as they are when they come, and stay"
    if dataset.only_grows:
        return "appended", "its rows are never taken back: a step adds a file"
    if not dataset.is_stored:
        return "incremental", "part of what reads it; nothing of it is stored"
    name = compiled.view(dataset)
    if name.append_only:
        return "incremental", "its query only adds rows, as its sources do"
    return "incremental", "its query has an incremental form: files with rows that change are written anew"


def changed(done: Sequence[Done]) -> bool:
    """Whether there is something to tell."""
    return any(one.how != UNCHANGED for one in done)
