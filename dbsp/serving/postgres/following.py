"""SUBSCRIBE TO view [SINCE step]: rows of a step's number, a weight and the columns, as steps make them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.postgres.answers import Followed
from dbsp.serving.postgres.language.spelling import Cursor, Word
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.postgres.queries import empty
from dbsp.serving.subscriptions import Subscriptions, marked
from dbsp.sql.plans.program import STEP
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import output_view


@dataclass(frozen=True)
class Asked:
    """schema: of the rows. since: the step after which they begin."""

    view: str
    schema: pa.Schema
    since: int


@dataclass(frozen=True)
class Following:
    pipeline: Pipeline
    subscriptions: Subscriptions

    def asked(self, words: Sequence[Word]) -> Asked:
        """Raises Error."""
        said = Cursor(words[1:])
        said.takes("TO")
        name = said.relation()
        step = said.value() if said.takes("SINCE") else None
        if name is None or not said.is_over:
            raise Wrong("42601", "SUBSCRIBE TO view [SINCE step]")
        view = output_view(self.pipeline.program, name)
        schema = self.subscriptions.schema(view)
        first = [schema.field(STEP), schema.field(WEIGHT)]
        since = self.subscriptions.since(None if step is None else step.text)
        return Asked(view, pa.schema([*first, *(one for one in schema if one not in first)]), since)

    def answer(self, words: Sequence[Word]) -> Followed:
        """Raises Error."""
        asked = self.asked(words)
        self.subscriptions.check_room()
        return Followed(asked.schema, self._changes(asked))

    async def _changes(self, asked: Asked) -> AsyncIterator[pa.RecordBatch]:
        of = self.subscriptions.schema(asked.view)

        def spell(steps: Sequence[tuple[int, ViewChanges]]) -> list[pa.RecordBatch]:
            return [marked(of, step, changes).select(asked.schema.names) for step, changes in steps]

        async for batches in self.subscriptions.followed(asked.view, asked.since, "postgres", spell, None):
            for batch in [empty(asked.schema)] if batches is None else batches:
                self.subscriptions.feed.rounds.sent(batch.nbytes)
                yield batch
