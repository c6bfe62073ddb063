"""Watermarks that queries put on tables and views: LATENESS of their columns, for all that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.sql.spellings.watermarks import Watermark, watermarks_in
from dbsp.sql.text.annotations import LatenessClause, LatenessStatement
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.create_view import CreateRecursiveView, CreateView
from dbsp.sql.text.statements.statements import InsertInto, Statement


def with_watermarks(source: Source, parsed: Sequence[Statement]) -> list[Statement]:
    """The statements, with those watermarks at what they are of. Raises ProgramError."""
    made = list(parsed)
    queries = [one.query for one in parsed if isinstance(one, CreateView | CreateRecursiveView | InsertInto)]
    for watermark in (each for query in queries for each in watermarks_in(source, query)):
        for at, one in enumerate(made):
            if (
                not isinstance(one, CreateTable | CreateView)
                or one.name.lower() != watermark.relation.lower()
            ):
                continue
            if isinstance(one, CreateTable):
                made[at] = _of_table(source, one, watermark)
            elif not _is_said(made, watermark):
                said = LatenessStatement(one.name, watermark.column, watermark.clause, watermark.place)
                made.insert(at + 1, said)
            break
        else:
            raise _unknown(source, watermark, made)
    return made


def _unknown(source: Source, watermark: Watermark, made: Sequence[Statement]) -> ProgramError:
    name = watermark.relation
    hint = did_you_mean(name, [one.name for one in made if isinstance(one, CreateTable | CreateView)])
    message = f"a watermark is of a table or view, and '{name}' is none{hint or ''}; of a query make one"
    return source.error(watermark.place, f"{message}: CREATE VIEW {name} AS ...")


def _of_table(source: Source, table: CreateTable, watermark: Watermark) -> CreateTable:
    columns = list(table.columns)
    for i, column in enumerate(columns):
        if column.name.lower() == watermark.column.lower():
            if column.lateness is not None and not _same(column.lateness, watermark.clause):
                message = f"column '{column.name}' of '{table.name}' has another LATENESS already"
                raise source.error(watermark.place, message)
            columns[i] = replace(column, lateness=column.lateness or watermark.clause)
            return replace(table, columns=tuple(columns))
    listed = ", ".join(column.name for column in columns)
    message = f"unknown column '{watermark.column}' in '{table.name}'; columns: {listed}"
    raise source.error(watermark.place, message)


def _same(one: LatenessClause, other: LatenessClause) -> bool:
    if one.decreasing != other.decreasing:
        return False
    if one.percentile is None and other.percentile is None:
        return one.amount.text.split() == other.amount.text.split()
    return one.percentile == other.percentile


def _is_said(made: Sequence[Statement], watermark: Watermark) -> bool:
    """Whether another query has put it there."""
    return any(
        isinstance(one, LatenessStatement)
        and one.relation.lower() == watermark.relation.lower()
        and one.column.lower() == watermark.column.lower()
        and _same(one.clause, watermark.clause)
        for one in made
    )
