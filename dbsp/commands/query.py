"""`dbsp query`: Spark SQL over the views in a state directory, as of any step that is kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

import pyarrow as pa

from dbsp.circuits.columns.arrow import concat
from dbsp.circuits.columns.json_text import encode
from dbsp.circuits.errors import ProgramError, StateError
from dbsp.commands.shown.text_table import text_table
from dbsp.sql.compiler.load import compile_program, load_program
from dbsp.sql.plans.program import Program
from dbsp.state.store import Store
from dbsp.views.outputs import contents_of, output_views, state_of
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATTEMPTS = 3


def query_state(directory: str, select: str, as_of: int | None, output: str) -> Iterator[str]:
    """The result, line by line. Raises StateError for the directory, ProgramError for the query."""
    store, identity = Store.read(directory)
    if as_of is not None:
        store.commit_of(as_of)  # a step that isn't kept is reported without Spark
    from dbsp.running.spark.session import session  # noqa: PLC0415  and so is a wrong directory

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # the error itself says it all
    spark = session().newSession()
    spark.conf.set("spark.sql.session.timeZone", identity.timezone)
    if identity.functions:  # as records, which are nothing to keep in the cache
        program = compile_program(identity.text, identity.name, session=spark, functions=identity.functions)
    else:
        program = load_program(identity.text + "\n", name=identity.name, session=spark)
    if program.fingerprint != identity.fingerprint:
        raise StateError(
            f"{directory}: '{identity.name}' means something else to this version of dbsp or Spark than "
            "when the state was made; query it with that version"
        )
    for contents in _views(program, directory, as_of, spark):
        contents.to_spark().createOrReplaceTempView(f"`{contents.view}`")
    result = _ask(spark, select, output_views(program))
    yield from (_json(result) if output == "json" else text_table(result))


def _views(program: Program, directory: str, as_of: int | None, spark: SparkSession) -> list[Contents]:
    """All views as of one step. A writer may delete files of the step between two looks: then look again."""
    for attempt in range(ATTEMPTS):
        store, _ = Store.read(directory)
        commit = store.commit_of(as_of) if as_of is not None else store.last
        state = state_of(program, commit)
        try:
            return [contents_of(program, state, view, store, spark) for view in output_views(program)]
        except StateError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("no attempt was made")


def _ask(spark: SparkSession, select: str, views: list[str]) -> pa.RecordBatch:
    from dbsp.running.spark.intervals import with_integers  # noqa: PLC0415
    from dbsp.running.spark.messages import SparkFailure, first_line  # noqa: PLC0415

    try:
        # only a query: a command would act on Spark's own catalogue
        spark._jsparkSession.sessionState().sqlParser().parseQuery(select.strip().rstrip(";"))
        table = with_integers(spark.sql(select)).toArrow()
    except SparkFailure as error:
        said = re.sub(r"\s*SQLSTATE: \w+;*", "", first_line(error)).rstrip(".; ")
        raise ProgramError(f"{said}; views: {', '.join(views)}") from None
    return concat(table.schema, table.to_batches())


def _json(result: pa.RecordBatch) -> Iterator[str]:
    names = [encode_basestring(name) for name in result.schema.names]
    for row in zip(*map(encode, result.columns), strict=True):
        yield "{" + ", ".join(f"{name}: {value}" for name, value in zip(names, row, strict=True)) + "}"
