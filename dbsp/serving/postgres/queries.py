"""What a connection's SELECT gives: of the catalogue, by a lookup, or by the engine.

Within a transaction it sees one step, and tables with what the transaction has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.errors import ProgramError
from dbsp.history.travel import travels
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.postgres.answers import Rows
from dbsp.serving.postgres.casting.meaning import meant
from dbsp.serving.postgres.catalogue.answering import Catalogue
from dbsp.serving.postgres.language.lookups import Lookup, lookup_of
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.places import placed
from dbsp.serving.postgres.language.spelling import Word, spark_text
from dbsp.serving.postgres.transaction import Transaction
from dbsp.views.view import Contents

# rows that are found without a thread
FEW = 100


@dataclass(frozen=True)
class Queries:
    """written: the connection's transaction."""

    pipeline: Pipeline
    catalogue: Catalogue
    written: Transaction

    def at_once(self, words: Sequence[Word], values: Sequence[Value], own: bool) -> pa.RecordBatch | None:
        """The rows of a lookup in an index that is there, without a thread: that costs more than it.

        None: it isn't one, or what it reads may be in a transaction or on a store.
        """
        if own or self.pipeline.store.segments.origin is not None:
            return None
        lookup = None if self.catalogue.asks(words) else lookup_of(words)
        return None if lookup is None else self._looked_up(lookup, values, self.pipeline.view, indexed=True)

    def rows(self, words: Sequence[Word], values: Sequence[Value], own: bool, zone: str) -> Rows:
        """own: with what the transaction has changed. Raises Error."""
        if self.catalogue.asks(words):
            return Rows(_one_batch(self.catalogue.answer(words, values)))
        seen = self.written.snapshot() if own else None
        lookup = lookup_of(words)
        if lookup is not None:
            found = self._looked_up(lookup, values, self.pipeline.view if seen is None else seen.read)
            if found is not None:
                return Rows(found)
        literals = [value.spark for value in values]
        words = meant(words, values, self.catalogue.relations)
        select = spark_text(words, literals)
        try:
            if seen is None or travels(select)[1]:
                contents = self.pipeline.sql(select, timezone=zone)
            else:
                contents = seen.query(select, zone)
        except ProgramError as error:
            raise placed(error, words, literals) from None
        return Rows(contents.batch(), notice=contents.note)

    def _looked_up(
        self,
        lookup: Lookup,
        values: Sequence[Value],
        read: Callable[[str], Contents],
        indexed: bool = False,
    ) -> pa.RecordBatch | None:
        """indexed: None where there is no index yet, or many rows are found."""
        name = next((view for view in self.pipeline if view.lower() == lookup.view), None)
        if name is None:
            return None
        contents = read(name)
        equal = lookup.values(contents.columns, values)
        if equal is None or (indexed and not contents.has_index(equal)):
            return None
        found = contents.where(equal)
        if indexed and len(found) > FEW:
            return None
        rows = found.batch()
        if lookup.columns is None:
            return rows
        names = [one.lower() for one in rows.schema.names]
        return rows.select([names.index(column) for column in lookup.columns])

    def schema(self, words: Sequence[Word], values: Sequence[Value], zone: str) -> pa.Schema:
        """The columns of the same."""
        if self.catalogue.asks(words):
            return self.catalogue.answer(words, values).schema
        literals = [value.spark for value in values]
        words = meant(words, values, self.catalogue.relations)
        try:
            columns = self.pipeline.sql_schema(spark_text(words, literals), zone)
        except ProgramError as error:
            raise placed(error, words, literals) from None
        return empty(columns).schema


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of these columns."""
    return pa.RecordBatch.from_pylist([], schema)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else empty(table.schema)
