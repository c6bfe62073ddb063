"""The program of a state directory, to read its views by. No code of it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dbsp.circuits.errors import StateError
from dbsp.sql.compiler.load import read_program
from dbsp.sql.plans.program import Program
from dbsp.state.records.identity import Identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_of(identity: Identity) -> SparkSession:
    """A new session in the program's time zone."""
    from dbsp.running.spark.session import session  # noqa: PLC0415  who needs none doesn't pay for Spark

    spark = session().newSession()
    spark.conf.set("spark.sql.session.timeZone", identity.timezone)
    return spark


def program_of(
    identity: Identity, directory: str, session: Callable[[], SparkSession] | None = None
) -> Program:
    """Compiled, or from the cache. session: for a program that isn't there. Raises StateError."""
    start = session or (lambda: session_of(identity))
    program = read_program(identity.text, identity.name, start, identity.timezone, identity.functions)
    if program.fingerprint != identity.fingerprint:
        raise StateError(
            f"{directory}: '{identity.name}' means something else to this version of dbsp or Spark than "
            "when the state was made; query it with that version"
        )
    return program
