"""Queries of a program's views, compiled: the last ones in memory, their shapes in the cache of programs."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.queries.query import QUERY, load_query
from dbsp.sql.compiler.queries.shapes import Shapes
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT = 256
# where a query's plan was: as it is, in its shape's, or nowhere
FOUND = ("text", "shape", "compiled")


class Plans:
    """session: to compile in, where a query is new. known: what a query might have meant."""

    def __init__(
        self, session: Callable[[], SparkSession], timezone: str, known: Mapping[str, Schema] | None = None
    ) -> None:
        self._session, self._timezone, self._known = session, timezone, known or {}
        self._kept: OrderedDict[object, Program] = OrderedDict()
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

    def _loaded(self, select: str, read: Mapping[str, Schema]) -> tuple[Program, str]:
        where = FOUND[1]

        def session() -> SparkSession:
            nonlocal where
            where = FOUND[2]
            return self._session()

        try:
            program = load_query(select, read, session, self._timezone, self._shapes)
            return program, where
        except ProgramError:
            if self._known:  # with all that there is, the error says what, and what was misspelt
                load_query(select, {**self._known, **read}, self._session, self._timezone)
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
