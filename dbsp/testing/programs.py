"""Programs under test: compiled in one JVM for the whole session, and run in process without their sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.udf import Function
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

    One that is in the cache starts no JVM; for the first that isn't, the session is started in which all
    later ones are compiled, and Spark SQL is asked.
    """
    from dbsp.sql.compiler.cache import cached  # noqa: PLC0415
    from dbsp.sql.text.source import read  # noqa: PLC0415

    if isinstance(program, Program):
        return program
    declared = [function.declared for function in functions]
    text, name = _text(program)
    source = read(text, name, define)

    def compile_() -> Program:
        from dbsp.running.spark.session import session  # noqa: PLC0415
        from dbsp.sql.compiler.compile import compile_source  # noqa: PLC0415

        session("dbsp tests")
        return compile_source(source, None, declared)

    return cached(source, "UTC", compile_, declared)


def in_process(program: Program, partitions: int | None = None) -> Pipeline:
    """A pipeline in a state of its own, which ends with it."""
    return Undelivered(program, runner="inline", partitions=partitions)


def path_of(given: str | Path) -> Path:
    """Relative to the folder of the test."""
    return SETTING.folder / given


def read_text(given: str | Path) -> str:
    """Raises DataError."""
    path = path_of(given)
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: can't be read: it is no UTF-8 text") from None


def _text(program: str | Path) -> tuple[str, str]:
    if isinstance(program, str) and ";" in program:
        return program + "\n", "program.sql"
    path = path_of(program)
    try:
        return path.read_text(encoding="utf-8-sig"), str(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ProgramError(f"{path}: can't read the program: {reason}") from None
