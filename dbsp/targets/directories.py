"""The files of a table, and a changelog of files: a directory a step, `__step=n`, below the table's path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.sql.plans.program import STEP, Program, Table
from dbsp.state.records.delivered import Delivery, read_delivered
from dbsp.state.records.places import local_path, scheme_of
from dbsp.state.store import Store
from dbsp.targets.outlet import given_before

BEGIN_HERE = "let it begin anew here, with all that its view holds, by --evolve (evolve=True)"


def path_of(table: Table) -> str:
    """The option, absolute: the JVM has a working directory of its own. Raises ProgramError for none.

    A URI that isn't one of local files is left to Spark.
    """
    for name, value in table.options.items():
        if name.lower() == "path":
            try:
                return value if scheme_of(value) is not None else os.path.abspath(local_path(value))
            except Error as error:
                raise ProgramError(f"{table.location}: table '{table.name}': {error}") from None
    raise ProgramError(
        f"{table.location}: table '{table.name}' USING {table.format} needs OPTIONS (path 'directory')"
    )


def steps_in(directory: str) -> list[int]:
    """The steps that a local directory has, in order."""
    names = (each.name.partition("=") for each in Path(directory).glob(f"{STEP}=*"))
    return sorted(int(step) for _, _, step in names if step.isdigit())


def cut_off(
    store: Store,
    target: str,
    path: str,
    before: Delivery,
    given: Callable[[int], int],
    steps: Callable[[str], Iterable[int]],
) -> str | None:
    """Why a reader of a path would miss rows, or have some twice, if the sink went on there; in words, with
    what to do but to begin it anew. None: it can go on.

    given: as of `Outlet`. steps: those in a directory, for what `given` knows nothing of.
    """
    last = store.last.step if store.last is not None else 0
    if 0 < last <= before.began:
        return (
            f"it began after step {before.began}, and the state {store.root} has gone back to step {last}; "
            "restore a later one"
        )
    begins = _begins_with(store, target, before)
    if begins is not None:
        return (
            f"step {begins} has all that its view held, to begin it anew elsewhere, which ended before that "
            "was noted; make that change again"
        )
    if before.directory in (None, path):
        return None
    assert before.directory is not None
    step = given(before.step + 1) or max(steps(before.directory), default=0)
    if not step or step in {*steps(path)}:
        return None
    return (
        f"{STEP}={step} is not in {path}: it was written to {before.directory}; move what is there to this "
        "path, or give the one before"
    )


def _begins_with(store: Store, target: str, before: Delivery) -> int | None:
    """A step that is to begin it anew, and of which its record says nothing."""
    for step in store.steps:
        if step > before.step and step != before.began + 1:
            with suppress(StateError):  # of a damaged record says who delivers it
                if any(store.commit_of(step).initial.get(target, {}).values()):
                    return step
    return None


def begun_anew(program: Program, store: Store) -> dict[str, str]:
    """The paths of sinks that can't go on there, so that a change of program gives them all that their views
    hold. Of paths on a store nothing is known.
    """
    found = {}
    delivered = read_delivered(store.root)
    for name in dict.fromkeys(insert.target for insert in program.inserts):
        path, known = local_target(program.tables[name]), delivered.get(name)
        if path is not None and known is not None and scheme_of(known.directory or "") is None:
            given = partial(given_before, store, program, name, delivered=delivered)
            if cut_off(store, name, path, known, given, steps_in) is not None:
                found[name] = path
    return found


def local_target(table: Table) -> str | None:
    """The path of a table of files, if it is a local one."""
    path = path_of(table) if table.is_file else None
    return path if path is not None and scheme_of(path) is None else None


def began_after(step: int) -> str:
    """Of a sink that a changed program has, why no earlier step is its own, in words."""
    return f"it begins after step {step}, with all that its view held, which a reader would have twice"


def strangers(steps: Iterable[int], path: str, why: str) -> str:
    """That a path has steps that a reader would take for a sink's, and what to do. why: they aren't its."""
    first, *more = (f"{STEP}={step}" for step in sorted(steps))
    which = f"{first} to {more[-1]} are" if more else f"{first} is"
    return f"{which} in {path} already, and {why}; delete what is there, or give another path"
