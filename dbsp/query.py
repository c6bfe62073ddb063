"""`dbsp query`: Spark SQL over the views in a state directory, as of any step that is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from circuits.errors import ProgramError
from circuits.state import State
from dbsp.json_values import encode
from dbsp.pipeline import contents_of
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

    spark = session()
    for view in program.circuit.outputs:
        contents = contents_of(program, state, view.view, store, spark)
        contents.to_spark().createOrReplaceTempView(f"`{view.view}`")
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        result = spark.sql(select).toArrow()
    except PySparkException as error:
        views = ", ".join(output.view for output in program.circuit.outputs)
        raise ProgramError(f"{str(error).splitlines()[0]}; views: {views}") from None
    yield from (_json(result) if output == "json" else _table(result))


def _json(result: pa.Table) -> Iterator[str]:
    import json  # noqa: PLC0415

    names = [json.dumps(name, ensure_ascii=False) for name in result.column_names]
    for row in _encoded(result):
        yield "{" + ", ".join(f"{name}: {value}" for name, value in zip(names, row, strict=True)) + "}"


def _table(result: pa.Table) -> Iterator[str]:
    rows = [tuple(result.column_names)]
    rows += [tuple(_bare(value) for value in row) for row in _encoded(result)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, row in enumerate(rows):
        yield "  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip()
        if i == 0:
            yield "  ".join("-" * width for width in widths)


def _encoded(result: pa.Table) -> Iterator[tuple[str, ...]]:
    columns = [
        encode(pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type))
        for column in result.columns
    ]
    return zip(*columns, strict=True)


def _bare(value: str) -> str:
    if value == "null":
        return "NULL"
    return value[1:-1] if value.startswith('"') and "\\" not in value else value
