"""From a program's text, or the name of its file, to a compiled program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import ProgramError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.sql.plans.declared import Declared
    from dbsp.sql.text.source import Source
from dbsp.sql.plans.program import Program

# a string after FROM, JOIN or a comma
_MAY_BE_FILES = re.compile(
    r"""(?:\b(?:FROM|JOIN)|,)(?:\s|--[^\n]*\n|/\*.*?\*/)*['"]""", re.IGNORECASE | re.DOTALL
)
# a statement of its own, whatever the program's text ends in
SHOW_KEY = "\n;\nSET show_key = true;\n"


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

    with _with_file_tables(read(text, name, define), session) as (source, spark):
        return compile_source(source, spark, functions)


def load_program(
    path_or_text: str | Path,
    name: str | None = None,
    define: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
    functions: Sequence[Declared] = (),
    definitions: Mapping[str, Any] | None = None,
    show_key: bool = False,
) -> Program:
    """Like `compile_program`, through the on-disk cache.

    A Path, or a string without white space, is a file. definitions: plans of the session's JVM that queries
    read by these names, which say what the plans are. show_key: as a program that says so at its end. Raises
    ProgramError, also for a file that is not there.
    """
    from dbsp.sql.compiler.cache import cached  # noqa: PLC0415
    from dbsp.sql.text.source import read  # noqa: PLC0415

    text, name = _text(path_or_text, name)
    text += SHOW_KEY if show_key else ""
    timezone = session.conf.get("spark.sql.session.timeZone") if session is not None else "UTC"
    with _with_file_tables(read(text, name, define), session) as (source, spark):

        def compile_() -> Program:
            from dbsp.sql.compiler.compile import compile_source  # noqa: PLC0415  the compiler is not needed on a cache hit

            return compile_source(source, spark, functions, definitions=definitions)

        return cached(source, timezone or "UTC", compile_, functions)


@contextmanager
def _with_file_tables(
    source: Source, session: SparkSession | None
) -> Iterator[tuple[Source, SparkSession | None]]:
    """(the program with a table for each file that it names, what to compile it in).

    Their columns are Spark's to find: so such a program needs it, also where it is in the cache.
    """
    if not (_MAY_BE_FILES.search(source.text) and _names_files(source)):
        yield source, session
        return
    from dbsp.sql.catalyst import compile_session  # noqa: PLC0415
    from dbsp.sql.compiler.sources.file_tables import with_file_tables  # noqa: PLC0415

    if session is not None:
        yield with_file_tables(source, session), session
        return
    with compile_session() as running:
        spark = running.newSession()  # a program means the same whichever session happens to be active
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        yield with_file_tables(source, spark), spark


def _names_files(source: Source) -> bool:
    from dbsp.sql.spellings.file_relations import file_relations  # noqa: PLC0415  most programs need no tokens here

    return bool(file_relations(source))


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
    return cached(source, timezone, compile_, runs=False)


def _text(path_or_text: str | Path, name: str | None) -> tuple[str, str]:
    if isinstance(path_or_text, str) and len(path_or_text.split()) != 1:
        return path_or_text, name or "program.sql"
    path = Path(path_or_text)
    try:
        return path.read_text(encoding="utf-8-sig"), name or str(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ProgramError(f"{path}: can't read the program: {reason}") from None
