"""`dbsp changes`: what changed in a view between two steps, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.circuits.columns.arrow import concat
from dbsp.commands.history.reading import beside_a_writer, program_of
from dbsp.commands.shown.changelog import CsvLines, json_lines_of_view
from dbsp.commands.shown.text_table import text_table
from dbsp.history.between import as_table, changes_between, changes_of_each, interval
from dbsp.sql.plans.program import Program
from dbsp.state.store import Store
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import output_view


def changes_in_state(
    directory: str, view: str, since: str, until: str | None, each: bool, output: str
) -> Iterator[str]:
    """The lines. Raises StateError for the directory and the steps, ProgramError for the view."""
    store, identity = Store.read(directory)
    interval(store, since, until, identity.timezone)  # a step that isn't kept is reported at once
    program = program_of(identity, directory)
    name = output_view(program, view)
    found = _read(directory, program, name, since, until, each)
    if output == "json":
        for step, changes in found:
            yield from json_lines_of_view(step, changes)
    elif output == "csv":
        lines = CsvLines()
        for step, changes in found:
            yield from lines.of_view(step, changes)
    else:
        table = as_table(program, name, iter(found)) if each else found[0][1].to_arrow()
        yield from text_table(concat(table.schema, table.to_batches()))


def _read(
    directory: str, program: Program, view: str, since: str, until: str | None, each: bool
) -> list[tuple[int, ViewChanges]]:
    def read(store: Store, steps: list[int]) -> list[tuple[int, ViewChanges]]:
        first, last = interval(store, since, until, program.timezone)
        steps += [step for step in store.steps if first <= step <= last]
        if each:
            return list(changes_of_each(program, store, view, first, last))
        return [(last, changes_between(program, store, view, first, last))]

    return beside_a_writer(directory, read)
