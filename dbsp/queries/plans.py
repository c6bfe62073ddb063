"""Queries of a program's views, compiled: the last ones in memory, all of them in the cache of programs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from dbsp.sql.compiler.query import QUERY, load_query
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT = 256


class Plans:
    """session: with the time zone `timezone`; asked for where a query is new."""

    def __init__(self, session: Callable[[], SparkSession], timezone: str) -> None:
        self._session, self._timezone = session, timezone
        self._kept: OrderedDict[object, Program] = OrderedDict()

    def of(self, select: str, relations: Mapping[str, Schema]) -> Program:
        """The query's program, over those of the relations that it names. Raises ProgramError."""
        read = {name: relations[name] for name in named_in(select, relations)}
        key = select, tuple(read.items())
        program = self._kept.pop(key, None)
        if program is None:
            program = load_query(select, read, self._session, self._timezone)
        self._kept[key] = program
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return program


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
