"""`dbsp query`: Spark SQL over the views in a state directory, as of any step that is kept."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from json.encoder import encode_basestring

import pyarrow as pa

from circuits.arrow import concat
from circuits.errors import ProgramError
from circuits.state import State
from dbsp.io.text_table import text_table
from dbsp.json_values import encode
from dbsp.pipeline import contents_of, output_views
from dbsp.store import Store
from sql.program import load_program


def query_state(directory: str, select: str, as_of: int | None, output: str) -> Iterator[str]:
    """The result, line by line. Raises StateError for the directory, ProgramError for the query."""
    store, identity = Store.read(directory)
    program = load_program(identity.text + "\n", name=identity.name)
    step = as_of if as_of is not None else (store.last.step if store.last else 0)
    if step == 0:
        state = State.empty(program.circuit)
    else:
        state = State.from_json(program.circuit, store.commit_of(step).state)  # type: ignore[arg-type]
    from dbsp.spark.session import session  # noqa: PLC0415  a wrong directory is reported without Spark

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # the error itself says it all
    spark = session()
    for view in output_views(program):
        contents = contents_of(program, state, view, store, spark)
        contents.to_spark().createOrReplaceTempView(f"`{view}`")
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        table = spark.sql(select).toArrow()
    except PySparkException as error:
        views = ", ".join(output_views(program))
        what = str(error).splitlines()[0].rstrip(".")
        raise ProgramError(f"{what}; views: {views}") from None
    result = concat(table.schema, table.to_batches())
    yield from (_json(result) if output == "json" else text_table(result))


def _json(result: pa.RecordBatch) -> Iterator[str]:
    names = [encode_basestring(name) for name in result.schema.names]
    for row in zip(*map(encode, result.columns), strict=True):
        yield "{" + ", ".join(f"{name}: {value}" for name, value in zip(names, row, strict=True)) + "}"
