"""`dbsp why`: the rows of the tables that a view's row follows from, of a state directory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from dbsp.circuits.errors import DataError, did_you_mean
from dbsp.commands.history.reading import beside_a_writer, program_of
from dbsp.history.asked import AsOf, step_of
from dbsp.lineage.asking import Asking
from dbsp.rows.texts import value_of, values_of
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.state.store import Store
from dbsp.views.derivation import LISTED, SHOWN, Why
from dbsp.views.outputs import before_of, contents_of, output_view, state_of
from dbsp.views.traces import Traces
from dbsp.views.view import Contents


def why_in_state(
    directory: str,
    view: str,
    words: Sequence[str],
    as_of: AsOf | None,
    output: str,
    limit: int | None = None,
    offset: int = 0,
) -> Iterator[str]:
    """The lines. limit, offset: of the rows of each relation.

    Raises StateError for the directory and the step, ProgramError for the view, DataError for the key.
    """
    store, identity = Store.read(directory)
    if as_of is not None:
        step_of(store, as_of, identity.timezone)  # a step that isn't kept is reported at once
    program = program_of(identity, directory)
    name = output_view(program, view)

    def read(store: Store, steps: list[int]) -> Why:
        step = store.last.step if store.last else 0
        if as_of is not None:
            step = step_of(store, as_of, program.timezone)
        steps.append(step)
        commit = store.commit_of(step) if step else None
        state, before = state_of(program, commit), before_of(program, commit)
        explain = partial(Asking(Traces(program), store).why, name, step, state)
        contents = contents_of(program, state, name, store, step=step, explain=explain, before=before)
        return contents.why(key_of(program, contents, words))

    found = beside_a_writer(directory, read)
    if output == "text":
        yield found.text(SHOWN if limit is None else limit, offset)
    else:
        yield json.dumps(found.to_json(LISTED if limit is None else limit, offset), ensure_ascii=False)


def key_of(program: Program, contents: Contents, words: Sequence[str]) -> dict[str, Any]:
    """Per column its value: `COLUMN=VALUE`, or all values of the key in their order.

    A value may have = in it if it is given with its column, or if what is before it is no name.
    """
    names = {one.name.lower() for one in contents.columns}
    pairs = [(name, value) for name, is_pair, value in (word.partition("=") for word in words) if is_pair]
    if len(pairs) == len(words) and any(name.lower() in names for name, _ in pairs):
        return values_of(contents.columns, pairs)
    for name, _ in pairs:
        if name.isidentifier() and name.lower() not in names:
            columns = contents.schema.names
            raise DataError(
                f"view '{contents.view}' has no column '{name}'; columns: {', '.join(columns)}; a value with "
                f"= in it is given with its column, as {columns[0]}={name}=...{did_you_mean(name, columns)}"
            )
    key = view_keys(program)[contents.view]
    if key is None or len(key) != len(words):
        columns = contents.schema.names
        said = f"the key ({', '.join(columns[i] for i in key)})" if key is not None else "no key"
        raise DataError(
            f"view '{contents.view}' has {said}, and {' '.join(words)!r} are no values of that; give values "
            f"of columns, as {columns[0]}=...; columns: {', '.join(columns)}"
        )
    columns = contents.columns
    return {
        columns[i].name: value_of(columns[i].name, word, columns[i].type)
        for i, word in zip(key, words, strict=True)
    }
