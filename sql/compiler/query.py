"""One query over relations whose rows are there: a program of one view, to be evaluated once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dbsp.sql.compiler.cache import cached
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.plans.types import ddl
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.tokens import Slice, tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = "query"
_WORDS = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("})
_CURE = "it is SELECT, WITH, VALUES or TABLE ..."


def load_query(
    select: str, relations: Mapping[str, Schema], session: Callable[[], SparkSession], timezone: str
) -> Program:
    """A program whose view QUERY is `select`, and whose tables are the relations, through the on-disk cache.

    session: to compile in; not asked for where the query is in the cache. Raises ProgramError.
    """
    source = as_it_is(select.strip().rstrip(";").rstrip(), QUERY)

    def compile_() -> Program:
        return _compiled(source, relations, session(), timezone)

    return cached(source, timezone, compile_, relations=tuple(sorted(relations.items())))


def _compiled(
    source: Source, relations: Mapping[str, Schema], session: SparkSession, timezone: str
) -> Program:
    # what only compiling needs
    from dbsp.sql.catalyst import Catalyst  # noqa: PLC0415
    from dbsp.sql.compiler.compile import Compiler  # noqa: PLC0415
    from dbsp.sql.compiler.scope import Scope  # noqa: PLC0415

    _check_word(source)
    scope = Scope(
        source, Catalyst(session, timezone), frozenset({*relations, QUERY}), frozenset(), reading=True
    )
    types: dict[str, object] = {}
    for name, schema in relations.items():
        spelled = [ddl(column.type) for column in schema]
        for one in spelled:
            types[one] = types.get(one) or scope.catalyst.column_type(one)
        columns = [(c.name, types[one], c.nullable) for c, one in zip(schema, spelled, strict=True)]
        scope.catalyst.register(name, columns)
        # its rows have no order of arrival, and are there as they are stored: some of them taken back
        scope.defined.tables[name] = Table(name, schema, (), False, True, None, {}, QUERY)
    compiler = Compiler(source, scope)
    compiler.add_query(QUERY, Slice(source.text, 0))
    return compiler.program()


def _check_word(source: Source) -> None:
    """Raises ProgramError for what isn't a query: a statement would do something."""
    first = tokens(source)[0]
    if first.kind == "end":
        raise source.error(first.start, f"nothing is asked; {_CURE}")
    if first.upper not in _WORDS:
        raise source.error(first.start, f"'{first.text}' begins no query; {_CURE}")
