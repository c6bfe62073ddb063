"""From a program's text, or the name of its file, to a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import ProgramError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.program import Program


def compile_program(
    text: str,
    name: str = "program.sql",
    define: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
    functions: Sequence[Declared] = (),
) -> Program:
    """Compile with `session`'s Catalyst, or the active session's, or one started for it.

    define: values of `${NAME}`, before the environment's. functions: beside the program's own. Raises
    ProgramError.
    """
    from dbsp.sql.compiler.compile import compile_source  # noqa: PLC0415  the compiler is not needed on a cache hit
    from dbsp.sql.text.source import read  # noqa: PLC0415

    return compile_source(read(text, name, define), session, functions)


def load_program(
    path_or_text: str | Path,
    name: str | None = None,
    define: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
    functions: Sequence[Declared] = (),
    definitions: Mapping[str, Any] | None = None,
) -> Program:
    """Like `compile_program`, through the on-disk cache.

    A Path, or a string without white space, is a file. definitions: plans of the session's JVM that queries
    read by these names, which say what the plans are. Raises ProgramError, also for a file that is not there.
    """
    from dbsp.sql.compiler.cache import cached  # noqa: PLC0415
    from dbsp.sql.text.source import read  # noqa: PLC0415

    def compile_() -> Program:
        from dbsp.sql.compiler.compile import compile_source  # noqa: PLC0415  the compiler is not needed on a cache hit

        return compile_source(source, session, functions, definitions=definitions)

    text, name = _text(path_or_text, name)
    source = read(text, name, define)
    timezone = session.conf.get("spark.sql.session.timeZone") if session is not None else "UTC"
    return cached(source, timezone or "UTC", compile_, functions)


def read_program(
    text: str,
    name: str,
    session: Callable[[], SparkSession],
    timezone: str,
    functions: Sequence[Declared] = (),
) -> Program:
    """The program of a state directory, to read its views by: their rows are there, so no code of it runs.

    text: after substitution. session: with that time zone; not asked for where the program is in the cache.
    functions: as recorded. Raises ProgramError.
    """
    from dbsp.sql.compiler.cache import cached  # noqa: PLC0415
    from dbsp.sql.compiler.functions.handlers import may_define_functions  # noqa: PLC0415
    from dbsp.sql.text.source import as_it_is  # noqa: PLC0415

    source = as_it_is(text, name)

    def compile_() -> Program:
        from dbsp.sql.compiler.compile import compile_source  # noqa: PLC0415  the compiler is not needed on a cache hit

        return compile_source(source, session(), functions, reading=True)

    if functions or may_define_functions(text):  # without their code it is nothing for the cache
        return compile_()
    return cached(source, timezone, compile_)


def _text(path_or_text: str | Path, name: str | None) -> tuple[str, str]:
    if isinstance(path_or_text, str) and len(path_or_text.split()) != 1:
        return path_or_text, name or "program.sql"
    path = Path(path_or_text)
    try:
        return path.read_text(encoding="utf-8-sig"), name or str(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ProgramError(f"{path}: can't read the program: {reason}") from None
