"""Programs under test: compiled in one JVM for the whole session, and run in process without their sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dbsp.commands.replays.replay import read_deltas
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.udf import Function, declared_of
from dbsp.sql.plans.program import Program
from dbsp.testing.setting import SETTING

# a file, the text itself, or what `load` made of one
ProgramLike = str | Path | Program


class Undelivered(Pipeline):
    """A pipeline whose sinks get nothing: a test must not write where its program does."""

    def _hand_over(self, may_lag: int) -> None:
        pass


def load(
    program: ProgramLike, define: Mapping[str, str] | None = None, functions: Sequence[Function] = ()
) -> Program:
    """The compiled program. A str with a semicolon in it is a program's text. Raises ProgramError.

    Examples:
        >>> program = load("CREATE TABLE t (x INT);\\nCREATE VIEW v AS SELECT max(x) AS top FROM t;")
        >>> list(program.views)
        ['v']

    One that is in the cache starts no JVM; for the first that isn't, the session is started in which all
    later ones are compiled, and Spark SQL is asked.
    """
    from dbsp.sql.compiler.load import load_program  # noqa: PLC0415  what a plugin imports, every test run pays for

    if isinstance(program, Program):
        return program
    declared = declared_of(functions)
    is_text = isinstance(program, str) and ";" in program
    given = f"{program}\n" if is_text else path_of(program)
    return load_program(given, define=define, functions=declared)


def in_process(program: Program, partitions: int | None = None) -> Pipeline:
    """A pipeline in a state of its own, which ends with it."""
    return Undelivered(program, runner="inline", partitions=partitions)


def path_of(given: str | Path) -> Path:
    """Relative to the folder of the test."""
    return SETTING.folder / given


def read_text(given: str | Path) -> str:
    """Raises DataError."""
    return read_deltas(str(path_of(given)))
