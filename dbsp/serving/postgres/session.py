"""What the statements of one connection mean."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.months import batch_to_calendar
from dbsp.circuits.errors import NotKept, StateError
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.evaluating import Evaluating
from dbsp.serving.feed import BEAT
from dbsp.serving.postgres.answers import Answer, Command, Copied, Followed, Rows, Wrong
from dbsp.serving.postgres.catalogue import Catalogue
from dbsp.serving.postgres.inference import inferred
from dbsp.serving.postgres.lookups import Lookup, lookup_of
from dbsp.serving.postgres.parameters import Value
from dbsp.serving.postgres.spelling import Word, spark_text
from dbsp.serving.postgres.tables import SETTINGS
from dbsp.serving.subscriptions import Subscriptions
from dbsp.sql.plans.program import STEP
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import changes_schema, output_view

_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "(", "FROM"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "DROP", "ALTER"})


@dataclass
class Session:
    """Of one connection. transaction: I none, T within one, E within one that failed."""

    pipeline: Pipeline
    evaluating: Evaluating
    subscriptions: Subscriptions
    catalogue: Catalogue
    transaction: str = "I"
    settings: dict[str, str] = field(default_factory=lambda: dict(SETTINGS))

    async def answer(self, words: Sequence[Word], values: Sequence[Value] = ()) -> Answer:
        """Raises Error."""
        first = words[0].upper
        if self.transaction == "E" and first not in ("ROLLBACK", "COMMIT", "END", "ABORT"):
            raise Wrong("25P02", "the transaction has failed; ROLLBACK ends it")
        if first in _QUERIES:
            return Rows(await self.evaluating.done(lambda: self._rows(words, values)))
        if first == "COPY":
            return await self._copied(words, values)
        if first == "SUBSCRIBE":
            return self._followed(words)
        if first in _WRITES:
            raise Wrong("25006", f"{first}: this port reads; rows are written by POST /tables/{{name}}")
        return self._command(first, words)

    def types_of(self, words: Sequence[Word], oids: Sequence[int]) -> list[int]:
        """Of a statement's parameters, those that the client named included."""
        views = self.pipeline.program.views
        return inferred(words, oids, {name: views[name].schema for name in self.pipeline})

    async def described(self, words: Sequence[Word], oids: Sequence[int]) -> pa.Schema | None:
        """The columns of what a statement will give; None: it gives no rows. oids: of its parameters."""
        if words[0].upper == "SUBSCRIBE":
            return self._subscribed(words)[1]
        if words[0].upper == "SHOW":
            answer = self._command("SHOW", words)
            assert isinstance(answer, Rows)
            return answer.batch.schema
        if words[0].upper not in _QUERIES:
            return None
        values = [Value(oid, None) for oid in oids]
        return await self.evaluating.done(lambda: self._schema(words, values))

    def _rows(self, words: Sequence[Word], values: Sequence[Value]) -> pa.RecordBatch:
        if self.catalogue.asks(words):
            return _one_batch(self.catalogue.answer(words, values))
        lookup = lookup_of(words)
        if lookup is not None:
            found = self._looked_up(lookup, values)
            if found is not None:
                return found
        select = spark_text(words, [value.spark for value in values])
        return batch_to_calendar(self.pipeline.sql(select).batch())

    def _looked_up(self, lookup: Lookup, values: Sequence[Value]) -> pa.RecordBatch | None:
        name = next((view for view in self.pipeline if view.lower() == lookup.view), None)
        if name is None:
            return None
        contents = self.pipeline.view(name)
        equal = lookup.values(contents.columns, values)
        if equal is None:
            return None
        rows = batch_to_calendar(contents.where(equal).batch())
        if lookup.columns is None:
            return rows
        names = [one.lower() for one in rows.schema.names]
        return rows.select([names.index(column) for column in lookup.columns])

    def _schema(self, words: Sequence[Word], values: Sequence[Value]) -> pa.Schema:
        if self.catalogue.asks(words):
            return self.catalogue.answer(words, values).schema
        schema = self.pipeline.sql_schema(spark_text(words, [value.spark for value in values]))
        return batch_to_calendar(_empty(schema)).schema

    async def _copied(self, words: Sequence[Word], values: Sequence[Value]) -> Copied:
        """COPY (query) TO STDOUT, COPY view [(columns)] TO STDOUT, [WITH (FORMAT csv, HEADER)]."""
        stop = next((i for i in range(len(words) - 1, 0, -1) if words[i].upper == "STDOUT"), 0)
        if stop < 3 or words[stop - 1].upper != "TO":
            raise Wrong(
                "0A000", "COPY: this port has COPY (SELECT ...) TO STDOUT [WITH (FORMAT csv, HEADER)]"
            )
        said = [word.upper for word in words[stop + 1 :] if word.kind == "word"]
        unknown = set(said) - {"WITH", "FORMAT", "CSV", "TEXT", "BINARY", "HEADER", "TRUE"}
        if unknown:
            raise Wrong(
                "0A000", f"COPY: {', '.join(sorted(unknown))} is unknown; FORMAT and HEADER are known"
            )
        form = next((one.lower() for one in said if one in ("CSV", "TEXT", "BINARY")), "text")
        asked = words[1 : stop - 1]
        if asked[0].text == "(":
            found = await self.answer(asked[1:-1], values)
        else:
            opened = next((i for i, word in enumerate(asked) if word.text == "("), len(asked))
            columns = asked[opened + 1 : -1] or (Word("symbol", "*"),)
            select = (
                Word("word", "SELECT"),
                *_spaced(columns),
                Word("word", "FROM", " "),
                *_spaced(asked[:opened]),
            )
            found = await self.answer(select, values)
        if not isinstance(found, Rows | Followed):
            raise Wrong("42601", "COPY (...): give a query, or SUBSCRIBE TO view")
        return Copied(found, form, "HEADER" in said)

    def _followed(self, words: Sequence[Word]) -> Followed:
        view, schema, since = self._subscribed(words)
        self.subscriptions.check_room()
        return Followed(schema, self._changes(view, schema, since))

    def _subscribed(self, words: Sequence[Word]) -> tuple[str, pa.Schema, int]:
        """SUBSCRIBE TO view [SINCE step]: (the view, columns, the step)"""
        said = [
            word for word in words[1:] if word.upper != "TO" and word.name != "public" and word.text != "."
        ]
        last = self.pipeline.last_step
        if not said or said[0].name is None or len(said) not in (1, 3):
            raise Wrong("42601", "SUBSCRIBE TO view [SINCE step]")
        since = last
        if len(said) == 3:
            if said[1].upper != "SINCE" or not said[2].text.isdecimal() or int(said[2].text) > last:
                raise Wrong("42601", f"SUBSCRIBE TO view SINCE step: a number from 0 to {last}")
            since = int(said[2].text)
        view = output_view(self.pipeline.program, said[0].name)
        none = pa.RecordBatch.from_pylist([], changes_schema(self.pipeline.program, view))
        marks = [pa.field(STEP, pa.int64(), False), pa.field(WEIGHT, pa.int64(), False)]
        return view, pa.schema([*marks, *batch_to_calendar(none).schema]), since

    async def _changes(self, view: str, schema: pa.Schema, step: int) -> AsyncIterator[pa.RecordBatch]:
        feed = self.subscriptions.feed

        def spell(step: int, changes: ViewChanges) -> pa.RecordBatch:
            shown = batch_to_calendar(changes.zset.rows)
            steps = pa.array(np.full(shown.num_rows, step, np.int64))
            columns = [steps, pa.array(changes.zset.weights), *shown.columns]
            return pa.RecordBatch.from_arrays(columns, schema=schema)

        self.subscriptions.open += 1
        try:
            while True:
                if not await feed.after(step, BEAT):
                    if feed.ended:
                        return
                    yield _empty(schema)
                    continue
                step += 1
                try:
                    yield await feed.spelled(view, step, "postgres", spell)
                except StateError:
                    raise NotKept(
                        f"step {step} isn't kept any more: read the view, and SUBSCRIBE again from its step"
                    ) from None
        finally:
            self.subscriptions.open -= 1

    def _command(self, first: str, words: Sequence[Word]) -> Answer:
        if first in ("BEGIN", "START"):
            self.transaction = "T"
            return Command("BEGIN" if first == "BEGIN" else "START TRANSACTION")
        if first in ("COMMIT", "END", "ROLLBACK", "ABORT"):
            if first == "ROLLBACK" and len(words) > 2 and words[1].upper == "TO":
                self.transaction = "T"
                return Command("ROLLBACK")
            failed, self.transaction = self.transaction == "E", "I"
            return Command("ROLLBACK" if failed or first in ("ROLLBACK", "ABORT") else "COMMIT")
        if first == "SHOW":
            return self._shown(words)
        if first == "SET":
            return self._set(words)
        if first in ("RESET", "DISCARD", "DEALLOCATE", "CLOSE", "SAVEPOINT", "RELEASE", "LISTEN", "UNLISTEN"):
            return Command(" ".join(["DISCARD ALL" if first == "DISCARD" else first]))
        raise Wrong(
            "42601", f"{words[0].text}: this port knows SELECT, COPY ... TO STDOUT, SUBSCRIBE TO, SHOW"
        )

    def _set(self, words: Sequence[Word]) -> Command:
        said = [word for word in words[1:] if word.upper not in ("SESSION", "LOCAL")]
        if [word.upper for word in said[:2]] == ["TIME", "ZONE"]:
            said = [Word("word", "timezone"), Word("symbol", "="), *said[2:]]
        if len(said) >= 3 and said[0].name is not None and said[1].upper in ("=", "TO"):
            known = next((name for name in self.settings if name.lower() == said[0].name), said[0].name)
            value = said[2].string if said[2].kind == "string" else said[2].text
            if known == "TimeZone" and value.upper() not in ("UTC", "GMT", "ETC/UTC", "DEFAULT"):
                return Command("SET", f"times are shown in UTC, not in {value}")
            if known == "client_encoding" and value.upper().replace("-", "") not in ("UTF8", "UNICODE"):
                raise Wrong("0A000", f"client_encoding = {value}: texts are UTF8")
            self.settings[known] = value
        return Command("SET")

    def _shown(self, words: Sequence[Word]) -> Rows:
        name = "_".join(word.text for word in words[1:] if word.kind in ("word", "quoted")).strip('"')
        if name.lower() == "time_zone":
            name = "TimeZone"
        elif name.lower() == "transaction_isolation_level":
            name = "transaction_isolation"
        known = next((each for each in self.settings if each.lower() == name.lower()), None)
        if known is None:
            raise Wrong("42704", f"unknown setting '{name}'; settings: {', '.join(sorted(self.settings))}")
        return Rows(pa.RecordBatch.from_pydict({known: [self.settings[known]]}))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema)


def _spaced(words: Sequence[Word]) -> tuple[Word, ...]:
    """With a space before the first."""
    return (Word(words[0].kind, words[0].text, " "), *words[1:])


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else _empty(table.schema)
