"""`dbsp replay`: what would have been, had other deltas come after a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dbsp.circuits.errors import Error, StateError
from dbsp.commands.history.reading import program_of
from dbsp.commands.replays.replay import replay as replay_steps
from dbsp.history.branch import branch
from dbsp.sql.compiler.functions.handlers import may_define_functions
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program
from dbsp.state.records.identity import Identity
from dbsp.state.records.places import delete_all, place_of
from dbsp.state.store import Store


def replay(
    directory: str, as_of: str, deltas: str, other: str, program: str | None, output: str, changelog: str
) -> Iterator[str]:
    """The lines of each step's changes. What fails leaves no other state. Raises Error.

    program: the file, where it has functions: no code is run that a directory brings.
    """
    compiled = _compiled(Store.read(directory)[1], directory, program)
    branch(directory, as_of, other)
    without_sinks = replace(compiled, inserts=())
    try:
        yield from replay_steps(without_sinks, deltas, {}, "inline", None, other, output, changelog)
    except Error:
        delete_all(place_of(other))
        raise


def _compiled(identity: Identity, directory: str, program: str | None) -> Program:
    if program is not None:
        return load_program(Path(program))
    if identity.functions or may_define_functions(identity.text):
        raise StateError(
            f"{directory}: '{identity.name}' calls functions of its own, and no code is run that a state "
            "directory brings; give the program's file with --program"
        )
    return program_of(identity, directory)
