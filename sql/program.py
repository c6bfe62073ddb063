"""A compiled program: what `dbsp` runs. Plain values: picklable, comparable, free of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from circuits.circuit import Circuit
from circuits.errors import ProgramError
from circuits.percentile import Percentile
from circuits.waterline import Amount
from sql.plan import Plan, Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class ColumnLateness:
    """amount, jump: in the units of `circuits.waterline`. percentile: instead of an amount."""

    column: int
    amount: Amount
    jump: Amount | None
    percentile: Percentile | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """format: of USING, or None: fed from the API, the CLI or a replay file.

    constant_domain: the columns whose set of values does not grow.
    """

    name: str
    schema: Schema
    primary_key: tuple[str, ...]
    append_only: bool
    unchecked: bool
    format: str | None
    options: dict[str, str]
    location: str
    lateness: tuple[ColumnLateness, ...] = ()
    constant_domain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Triggers:
    """delay: microseconds on the step clock. A key's changes leave when any of them fires."""

    counting: int | None
    delay: int | None
    waterline: bool
    location: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """Microseconds relative to the window's end: first <= complete <= last. every or rows: between the first
    and the complete result.
    """

    first: int
    complete: int
    last: int
    every: int | None
    rows: int | None
    late: bool
    flagged: bool
    location: str


Emission = Triggers | Schedule


@dataclass(frozen=True, slots=True)
class View:
    """kind: 'view', 'local' or 'materialized'. schema: the columns' names are the user's.

    append_only: the view's changes are never retractions. component: the recursive views that it is defined
    together with, itself included; () where it isn't recursive. max_iterations: until it must be complete.
    emission: when its changes leave; None: at every step.
    """

    name: str
    schema: Schema
    kind: str
    plan: Plan
    append_only: bool
    location: str
    lateness: tuple[ColumnLateness, ...] = ()
    component: tuple[str, ...] = ()
    max_iterations: int = 0
    emission: Emission | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """Standing INSERT INTO target: every change of `view` is written to the target's sink."""

    target: str
    view: str
    location: str


@dataclass(frozen=True, slots=True)
class Program:
    """fingerprint: equal for programs whose state is interchangeable.

    text: after substitution. tables and views are in the order of the file.
    """

    text: str
    name: str
    fingerprint: str
    timezone: str
    tables: dict[str, Table]
    views: dict[str, View]
    inserts: tuple[Insert, ...]
    circuit: Circuit


def compile_program(
    text: str,
    name: str = "program.sql",
    define: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
) -> Program:
    """Compile with `session`'s Catalyst, or the active session's, or one started for it.

    define: values of `${NAME}`, before the environment's. Raises ProgramError.
    """
    from sql.compile import compile_source  # noqa: PLC0415  the compiler is not needed on a cache hit
    from sql.source import read  # noqa: PLC0415

    return compile_source(read(text, name, define), session)


def load_program(
    path_or_text: str | Path,
    name: str | None = None,
    define: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
) -> Program:
    """Like `compile_program`, through the on-disk cache.

    A Path, or a string without white space, is a file. Raises ProgramError, also for a file that is not
    there.
    """
    from sql.cache import cached  # noqa: PLC0415
    from sql.source import read  # noqa: PLC0415

    def compile_() -> Program:
        from sql.compile import compile_source  # noqa: PLC0415  the compiler is not needed on a cache hit

        return compile_source(source, session)

    text, name = _text(path_or_text, name)
    source = read(text, name, define)
    timezone = session.conf.get("spark.sql.session.timeZone") if session is not None else "UTC"
    return cached(source, timezone or "UTC", compile_)


def _text(path_or_text: str | Path, name: str | None) -> tuple[str, str]:
    if isinstance(path_or_text, str) and len(path_or_text.split()) != 1:
        return path_or_text, name or "program.sql"
    path = Path(path_or_text)
    try:
        return path.read_text(encoding="utf-8"), name or str(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ProgramError(f"{path}: can't read the program: {reason}") from None
