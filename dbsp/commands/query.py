"""`dbsp query`: Spark SQL over the views in a state directory, as of any step that is kept, and over files.

No code runs that the directory brings: the rows of views are there, and functions are known by name and type.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import concat
from dbsp.circuits.columns.forms.outside import to_spark
from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.errors import ProgramError
from dbsp.commands.history.reading import beside_a_writer, program_of, session_of
from dbsp.commands.process.logs import say
from dbsp.commands.shown.text_table import text_table
from dbsp.history.asked import AsOf, step_of
from dbsp.history.travel import Travel, travels
from dbsp.queries.answer import answer
from dbsp.queries.plans import Plans, named_in
from dbsp.sql.compiler.queries.query import query_source
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.properties.keys import keys_of
from dbsp.sql.spellings.file_relations import file_relations
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.create_function import CreateFunction
from dbsp.sql.text.statements.create_sql_function import CreateSqlFunction
from dbsp.sql.text.statements.statements import statements
from dbsp.state.records.identity import Identity
from dbsp.state.store import Store
from dbsp.views.outputs import (
    before_of,
    check_state,
    contents_of,
    is_there,
    not_there,
    output_view,
    output_views,
    state_of,
)
from dbsp.views.shown import objects_of, shown
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def query_files(select: str, output: str) -> Iterator[str]:
    """The result of a query of files, line by line. Raises ProgramError."""
    source = query_source(select)
    files = file_relations(source)
    if not files:
        raise ProgramError(
            'give the state directory whose views are asked, as in dbsp query state/ "SELECT ...", or ask '
            "files: SELECT * FROM 'orders.csv' o"
        )
    from dbsp.commands.query_files import over_files  # noqa: PLC0415  who needs no Spark doesn't pay for it
    from dbsp.running.spark.session import session  # noqa: PLC0415

    spark = _quiet(session().newSession())
    yield from _lines(_ask(spark, over_files(source, files, spark), {}, [], set()), output)


def query_state(
    directory: str,
    select: str,
    as_of: AsOf | None,
    output: str,
    verify: str = "first read",
    show_key: bool = False,
) -> Iterator[str]:
    """The result, line by line. Raises StateError for the directory, ProgramError for the query.

    as_of: a step, a time or a tag. verify: see `Pipeline`; all that is opened here is read at once. show_key:
    the views that it names must hold their keys.
    """
    store, identity = Store.read(directory)
    select, asked = travels(select)
    for each in (as_of, *(travel.as_of for travel in asked)):
        if each is not None:
            step_of(store, each, identity.timezone)  # a step that isn't kept is reported without Spark
    started: list[SparkSession] = []

    def spark() -> SparkSession:
        if not started:
            started.append(_quiet(session_of(identity)))
        return started[0]

    program = program_of(identity, directory, spark)
    names = named_in(select, output_views(program))
    if show_key:
        _check_keys(program, names, directory)
    views = dict(_views(program, directory, as_of, verify, names, asked))
    source = query_source(select)
    files = file_relations(source)
    refused: ProgramError | None = None
    if files:
        from dbsp.commands.query_files import over_files  # noqa: PLC0415  who needs no Spark doesn't pay for it

        select = over_files(source, files, spark(), views)
    else:
        try:
            result = _shown(answer(Plans(spark, identity.timezone), select, views), identity.timezone)
        except ProgramError as error:  # Spark says better what is wrong, or can do what the engine can't
            refused = error
    if files or refused is not None:
        result = _ask(spark(), select, views, output_views(program), _functions(identity))
    if refused is not None:
        from dbsp.queries.by_spark import by_spark  # noqa: PLC0415  few queries are Spark's

        say(by_spark(refused))
    yield from _lines(result, output)


def _check_keys(program: Program, names: Sequence[str], directory: str) -> None:
    """Raises ProgramError for a view whose rows don't have their key among them."""
    keys = keys_of(program.tables, program.views)
    without = [name for name in names if keys[name] is None]
    if without:
        cure = f"dbsp run program.sql --state {directory} --show-key --evolve"
        raise ProgramError(
            f"'{without[0]}' holds no key of its rows; where it only doesn't select it, the program has "
            f"views hold it: {cure}, or SET show_key = true in it; rows of a table without PRIMARY KEY have "
            "none"
        )


def _quiet(spark: SparkSession) -> SparkSession:
    """The error itself says it all."""
    from dbsp.running.spark.messages import log_of_queries  # noqa: PLC0415

    log_of_queries().setLevel(logging.CRITICAL)
    return spark


def _lines(result: pa.RecordBatch, output: str) -> Iterator[str]:
    yield from objects_of(result) if output == "json" else text_table(shown(result))


def _shown(result: Contents, timezone: str) -> pa.RecordBatch:
    """The rows as Spark hands them over: months as integers, times in the program's zone."""
    rows = result.sorted_batch()
    columns = [
        column if holds_variant(column.type) else _in_zone(to_spark(column), timezone)
        for column in rows.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


def _in_zone(column: pa.Array, timezone: str) -> pa.Array:
    is_instant = pt.is_timestamp(column.type) and column.type.tz is not None
    return column.cast(pa.timestamp("us", timezone)) if is_instant else column


def _views(
    program: Program,
    directory: str,
    as_of: AsOf | None,
    verify: str,
    names: Sequence[str],
    asked: Sequence[Travel] = (),
) -> list[tuple[str, Contents]]:
    """Views of these names as of one step, and those asked for as of others, by their names in the query."""

    def read(store: Store, steps: list[int]) -> list[tuple[str, Contents]]:
        found = []
        step = store.last.step if store.last else 0
        if as_of is not None:
            step = step_of(store, as_of, program.timezone)
        steps.append(step)
        commit = store.commit_of(step) if step else None
        state, before = state_of(program, commit), before_of(program, commit)
        if verify == "open":
            check_state(program, state, store.segments)
        for view in names:
            if is_there(program, state, view, before):
                found.append((view, contents_of(program, state, view, store, before=before)))
        for travel in asked:
            view, step = output_view(program, travel.view), step_of(store, travel.as_of, program.timezone)
            steps.append(step)
            then = store.commit_of(step)
            at, before = state_of(program, then), before_of(program, then)
            found.append((travel.name, contents_of(program, at, view, store, before=before)))
        return found

    return beside_a_writer(directory, read, verify)


def _functions(identity: Identity) -> set[str]:
    """The names of the program's own functions, in lower case."""
    parsed = statements(as_it_is(identity.text, identity.name))
    inside = {
        statement.name.lower()
        for statement in parsed
        if isinstance(statement, CreateFunction | CreateSqlFunction)
    }
    return inside | {function.name.lower() for function in identity.functions}


def _ask(
    spark: SparkSession,
    select: str,
    views: Mapping[str, Contents],
    readable: list[str],
    functions: set[str],
) -> pa.RecordBatch:
    """What Spark says."""
    from dbsp.running.spark.frames import to_arrow, to_frame  # noqa: PLC0415
    from dbsp.running.spark.intervals import quoted  # noqa: PLC0415
    from dbsp.running.spark.messages import SparkFailure, first_line  # noqa: PLC0415

    for name, contents in views.items():
        to_frame(spark, contents.batch()).createOrReplaceTempView(quoted(name))
    try:
        # only a query: a command would act on Spark's own catalogue
        spark._jsparkSession.sessionState().sqlParser().parseQuery(select.strip().rstrip(";"))
        table = to_arrow(spark.sql(select))
    except SparkFailure as error:
        called = re.match(r"\[UNRESOLVED_ROUTINE\][^`]*`(\w+)`", first_line(error))
        if called and called[1].lower() in functions:
            raise ProgramError(
                f"'{called[1]}' is a function of the program, and a query runs no code of a state directory: "
                f"ask a view whose column calls it; views: {', '.join(readable)}"
            ) from None
        absent = re.match(r"\[TABLE_OR_VIEW_NOT_FOUND\][^`]*`(\w+)`", first_line(error))
        if absent and absent[1].lower() in {name.lower() for name in readable}:
            raise not_there(absent[1]) from None
        said = re.sub(r"\s*SQLSTATE: \w+;*", "", first_line(error)).rstrip(".; ")
        raise ProgramError(said + (f"; views: {', '.join(readable)}" if readable else "")) from None
    return concat(table.schema, table.to_batches())
