"""One query over relations whose rows are there: a program of one view, to be evaluated once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.cache import cached
from dbsp.sql.compiler.queries.shapes import Plan, Shapes, plan_of
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.text.literals.shape import Shape, shape_of
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.tokens import Slice, tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.sql.compiler.scope.scope import Scope

QUERY = "query"
_WORDS = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("})
_CURE = "it is SELECT, WITH, VALUES or TABLE ..."


def load_query(
    select: str,
    relations: Mapping[str, Schema],
    session: Callable[[], SparkSession],
    timezone: str,
    shapes: Shapes | None = None,
) -> Program:
    """A program whose view QUERY is `select`, and whose tables are the relations, through the on-disk cache.

    session: to compile in; not asked for where a query of its shape is in the cache, or in `shapes`, which
    has what was read of it. Raises ProgramError.
    """

    def compile_() -> Plan | Program:
        return compiled_query(select, relations, session, timezone)

    return found_query(select, relations, timezone, compile_, Shapes() if shapes is None else shapes)


def found_query(
    select: str,
    relations: Mapping[str, Schema],
    timezone: str,
    compile_: Callable[[], Plan | Program],
    shapes: Shapes,
) -> Program:
    """The same, compiled wherever that is: compile_ gives what `compiled_query` does, and raises as that."""
    source = query_source(select)
    among = tuple(sorted(relations.items()))
    shape = shape_of(source, timezone)
    if shape is None:
        return cached(source, timezone, partial(_made, compile_, Program), relations=among)
    for known in (shape, shape.apart):
        plan = None if known is None else shapes.plan(known, timezone, among)
        if known is not None and plan is not None:
            return plan.filled(known, source)
    plan = _made(compile_, Plan)
    shapes.keep(plan, shape, timezone, among)
    return plan.filled(shape, source)


def compiled_query(
    select: str, relations: Mapping[str, Schema], session: Callable[[], SparkSession], timezone: str
) -> Plan | Program:
    """What a query is compiled to: with holes where it has a shape. Raises ProgramError."""
    source = query_source(select)
    shape = shape_of(source, timezone)
    if shape is None:
        return _compiled(source, relations, session, timezone)
    return _opened(source, shape, partial(_compiled, source, relations, session, timezone))


Made = TypeVar("Made", Plan, Program)


def _made(compile_: Callable[[], Plan | Program], kind: type[Made]) -> Made:
    made = compile_()
    assert isinstance(made, kind), made
    return made


def _opened(source: Source, shape: Shape, compile_: Callable[..., Program]) -> Plan:
    """The query compiled with parameters; where that can't be, as it is."""
    found: dict[str, Sequence[int]] = {}
    with suppress(ProgramError):  # which is the literals' own, or that of what needs a literal
        return plan_of(compile_(shape, found), shape, found)
    return plan_of(compile_(), shape, {"free": (), "sized": ()})


def _compiled(
    source: Source,
    relations: Mapping[str, Schema],
    session: Callable[[], SparkSession],
    timezone: str,
    shape: Shape | None = None,
    found: dict[str, Sequence[int]] | None = None,
) -> Program:
    """found: is told which literals of the shape became parameters."""
    from dbsp.sql.compiler.compile import Compiler  # noqa: PLC0415  what only compiling needs

    scope = scope_of(source, relations, session(), timezone, shape)
    compiler = Compiler(scope)
    compiler.views.add_query(QUERY, Slice(source.text, 0), once=True)
    if found is not None:
        found |= scope.parameters or {"free": (), "sized": ()}
    return compiler.program()


def scope_of(
    source: Source,
    relations: Mapping[str, Schema],
    session: SparkSession,
    timezone: str,
    shape: Shape | None = None,
) -> Scope:
    """What the query's text means, over these relations. Raises ProgramError."""
    from dbsp.sql.catalyst import Catalyst  # noqa: PLC0415  what only compiling needs
    from dbsp.sql.compiler.scope.scope import Scope  # noqa: PLC0415

    _check_word(source)
    names = frozenset({*relations, QUERY})
    scope = Scope(source, Catalyst(session, timezone), names, frozenset(), reading=True, shape=shape)
    types: dict[str, object] = {}
    for name, schema in relations.items():
        spelled = [column.ddl for column in schema]
        for one in spelled:
            types[one] = types.get(one) or scope.catalyst.column_type(one)
        columns = [(c.name, types[one], c.nullable) for c, one in zip(schema, spelled, strict=True)]
        scope.catalyst.register(name, columns)
        # its rows have no order of arrival, and are there as they are stored: some of them taken back
        scope.defined.tables[name] = Table(name, schema, (), False, True, None, {}, QUERY)
    return scope


def query_source(select: str) -> Source:
    """The text of one query."""
    return as_it_is(select.strip().rstrip(";").rstrip(), QUERY)


def _check_word(source: Source) -> None:
    """Raises ProgramError for what isn't a query: a statement would do something."""
    first = tokens(source)[0]
    if first.kind == "end":
        raise source.error(first.start, f"nothing is asked; {_CURE}")
    if first.upper not in _WORDS:
        raise source.error(first.start, f"'{first.text}' begins no query; {_CURE}")
