"""A state directory, read beside who writes it: its program, of which no code runs, and its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.sql.compiler.load import read_program
from dbsp.sql.plans.program import Program
from dbsp.state.records.commits import load_commit
from dbsp.state.records.identity import Identity
from dbsp.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Found = TypeVar("Found")


def beside_a_writer(
    directory: str, read: Callable[[Store, list[int]], Found], verify: str = "first read"
) -> Found:
    """What `read` reads of a state, to whose list it adds the steps that it looks at.

    A writer may forget a step between two looks, and its files disappear: then it reads once more. A file of
    a step that isn't forgotten is damaged, or lost: DamagedChunk.
    """
    while True:
        store, _ = Store.read(directory, verify)
        steps: list[int] = []
        try:
            return read(store, steps)
        except DamagedChunk:
            if all(step == 0 or load_commit(store.root, step) is not None for step in steps):
                raise


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
