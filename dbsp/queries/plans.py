"""Queries of a program's views, compiled: the last ones in memory, their shapes in the cache of programs.

Of one that the engine refuses and Spark doesn't it is known that Spark is to evaluate it.
"""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from dbsp.circuits.allowance import has_allowance
from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.queries.evaluable import Evaluable, evaluable
from dbsp.sql.compiler.queries.query import QUERY, compiled_query, found_query
from dbsp.sql.compiler.queries.shapes import Plan, Shapes
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT = 256
# where a query's plan was: as it is, in its shape's, or nowhere; and of Spark's those that are new
FOUND = ("text", "shape", "compiled", "spark")


class Plans:
    """session: to compile in, where a query is new. known: what a query might have meant."""

    def __init__(
        self, session: Callable[[], SparkSession], timezone: str, known: Mapping[str, Schema] | None = None
    ) -> None:
        self.session, self._timezone, self._known = session, timezone, known or {}
        self._kept: OrderedDict[object, Program | Evaluable] = OrderedDict()
        self._shapes = Shapes()
        self._found, self._counting = Counter(dict.fromkeys(FOUND, 0)), Lock()

    @property
    def found(self) -> Mapping[str, int]:
        """How many queries had their plan where, of `FOUND`."""
        return dict(self._found)

    def in_zone(self, timezone: str) -> Plans:
        """The same, of queries whose session is in that time zone."""
        if timezone == self._timezone:
            return self
        other = copy.copy(self)
        other._timezone = timezone
        return other

    def of(self, select: str, read: Mapping[str, Schema]) -> Program:
        """The query's program. read: the relations that it names. Raises ProgramError."""
        found = self.known(select, read)
        if isinstance(found, Evaluable):
            raise found.refused
        return found

    def known(self, select: str, read: Mapping[str, Schema]) -> Program | Evaluable:
        """The query's program, or what Spark is to evaluate. Raises ProgramError where neither can be."""
        key = select, self._timezone, tuple(read.items())
        program = self._kept.pop(key, None)
        where = FOUND[0]
        if program is None:
            program, where = self._loaded(select, read)
        with self._counting:
            self._found[where] += 1
        self._kept[key] = program
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return program

    def _loaded(self, select: str, read: Mapping[str, Schema]) -> tuple[Program | Evaluable, str]:
        where = FOUND[1]

        def compile_() -> Plan | Program:
            nonlocal where
            where = FOUND[2]
            made = self._compiled(select, read)
            if isinstance(made, Evaluable):
                raise _NotOursError(made)
            return made

        try:
            program = found_query(select, read, self._timezone, compile_, self._shapes)
        except _NotOursError as other:
            return other.query, FOUND[3]
        return program, where

    def _compiled(self, select: str, read: Mapping[str, Schema]) -> Plan | Program | Evaluable:
        asked = select, read, self._timezone, self._known
        if not has_allowance():
            return compiled(self.session(), *asked)
        from dbsp.queries.beside.process import COMPILER, done  # noqa: PLC0415  only a server's pay for it

        made: Plan | Program | Evaluable = done(COMPILER, compiled, *asked)
        return made


class _NotOursError(Exception):
    """A query is Spark's to evaluate."""

    def __init__(self, query: Evaluable) -> None:
        self.query = query


def compiled(
    spark: SparkSession, select: str, read: Mapping[str, Schema], timezone: str, known: Mapping[str, Schema]
) -> Plan | Program | Evaluable:
    """What `compiled_query` makes of the query, or what Spark is to evaluate.

    known: what the query might have meant. Raises ProgramError.
    """
    try:
        return compiled_query(select, read, lambda: spark, timezone)
    except ProgramError as refused:
        with suppress(ProgramError):
            return evaluable(select, read, spark, timezone, refused)
        if known:  # with all that there is, the error says what, and what was misspelt
            compiled_query(select, {**known, **read}, lambda: spark, timezone)
        raise


def named_in(select: str, names: Iterable[str]) -> list[str]:
    """Of the names, those that the query has somewhere, in their order. Raises ProgramError."""
    words = set(_words(select))
    return [name for name in names if name.lower() in words or words.issuperset(name.lower().split("."))]


def _words(select: str) -> Iterator[str]:
    for token in tokens(as_it_is(select, QUERY)):
        if token.kind == "word":
            yield token.text.lower()
        elif token.kind == "quoted":
            yield token.text[1:-1].replace("``", "`").lower()
