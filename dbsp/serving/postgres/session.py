"""What the statements of one connection mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.returned import returned
from dbsp.dml.statement import Insert
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.incoming import BadRow, arrow_schema
from dbsp.serving.evaluating import Evaluating
from dbsp.serving.postgres.answers import Answer, Command, Copied, Copying, Followed, Rows
from dbsp.serving.postgres.casting.meaning import meant
from dbsp.serving.postgres.catalogue.answering import Catalogue
from dbsp.serving.postgres.copying.rows import CopiedRows
from dbsp.serving.postgres.copying.statement import copy_of
from dbsp.serving.postgres.cursors import Cursors, Declared, declared
from dbsp.serving.postgres.following import Following
from dbsp.serving.postgres.keeping.prepared import Prepared, Statements
from dbsp.serving.postgres.keeping.settings import Settings
from dbsp.serving.postgres.language.configuring import Call, calls_of
from dbsp.serving.postgres.language.inference import inferred
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.places import placed
from dbsp.serving.postgres.language.returning import Returning, split_returning
from dbsp.serving.postgres.language.spelling import Word, spark_text
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.postgres.queries import Queries
from dbsp.serving.postgres.transaction import Transaction
from dbsp.serving.subscriptions import Subscriptions
from dbsp.sql.text.tokens import begins_at

_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "(", "FROM"})
_CHANGES = {
    "INSERT": "INSERT 0 {}",
    "UPSERT": "INSERT 0 {}",
    "UPDATE": "UPDATE {}",
    "DELETE": "DELETE {}",
    "MERGE": "MERGE {}",
    "TRUNCATE": "TRUNCATE TABLE",
}
_DEFINES = frozenset({"CREATE", "DROP", "ALTER"})
WRITER = "writer"
# what ends with the connection, and does nothing before
_IGNORED = frozenset({"RELEASE", "LISTEN", "UNLISTEN"})
_ENDS = ("COMMIT", "END", "ROLLBACK", "ABORT")


@dataclass
class Session:
    """Of one connection. may_write: it has shown the token. transaction: I none, T within one, E within one
    that failed. prepared: by name.
    """

    pipeline: Pipeline
    evaluating: Evaluating
    subscriptions: Subscriptions
    catalogue: Catalogue
    written: Transaction
    may_write: bool = False
    transaction: str = "I"
    prepared: Statements = field(default_factory=Statements)
    cursors: Cursors = field(default_factory=Cursors)
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        self.settings = Settings(self.pipeline.program.timezone, self.evaluating.seconds)
        self.queries = Queries(self.pipeline, self.catalogue, self.written)
        self.following = Following(self.pipeline, self.subscriptions)

    @property
    def zone(self) -> str:
        """The time zone in which times are read and shown."""
        return self.settings.zone

    def timeout(self, words: Sequence[Word]) -> float | None:
        """The seconds that a statement may take; None: whatever it takes, as the end of a transaction."""
        return None if words and words[0].upper in _ENDS else self.settings.timeout

    async def answer(self, words: Sequence[Word], values: Sequence[Value] = ()) -> Answer:
        """Raises Error."""
        first = words[begins_at(words)].upper
        if self.transaction == "E" and first not in _ENDS:
            raise Wrong("25P02", "the transaction has failed; ROLLBACK ends it")
        if first == "EXECUTE":
            return await self.answer(self.prepared.executed(words), values)
        if first == "DECLARE":
            return await self._declared(declared(words), values)
        if first in _QUERIES:
            calls = calls_of(words, values)
            if calls is not None:
                return Rows(_texts(calls, [self.settings.called(call) for call in calls]))
            own = self._sees_its_own
            found = self.queries.at_once(words, values, own)
            if found is not None:
                return Rows(found)
            return await self.evaluating.done(lambda: self.queries.rows(words, values, own, self.zone))
        if first == "COPY":
            return await self._copy(words, values)
        if first == "SUBSCRIBE":
            return self.following.answer(words)
        if first in _CHANGES:
            return await self._changed(words, values)
        if first in _DEFINES:
            raise Wrong(
                "0A000", f"{first}: the program defines what there is; there are INSERT, UPDATE, DELETE"
            )
        if first in ("COMMIT", "END") and self.transaction == "T":
            self.transaction = "I"
            try:
                warning = await self.written.commit()
            except BaseException:
                self._ended(committed=False)
                raise
            self._ended(committed=True)
            return Command("COMMIT", warning)
        return self._command(first, words)

    async def _declared(self, cursor: Declared, values: Sequence[Value]) -> Command:
        if cursor.query[0].upper not in _QUERIES:
            raise Wrong("42601", f"DECLARE {cursor.name} CURSOR FOR: give a query")
        self.cursors.check(cursor, self.transaction)
        found = await self.answer(cursor.query, values)
        assert isinstance(found, Rows), "a query gives rows"
        return self.cursors.add(cursor, found.batch, self.transaction)

    def _ended(self, committed: bool) -> None:
        """The transaction has, and what goes with it."""
        self.settings.end(committed)
        self.cursors.end(committed)

    async def _changed(self, words: Sequence[Word], values: Sequence[Value]) -> Command | Rows:
        first = words[begins_at(words)].upper
        self._check_writer(first)
        count, given = await self.evaluating.done(lambda: self._run(words, values))
        if given is None:
            return Command(_CHANGES[first].format(count))
        return Rows(given, tag=_CHANGES[first])

    def _run(self, words: Sequence[Word], values: Sequence[Value]) -> tuple[int, pa.RecordBatch | None]:
        """How many rows a statement changes, and what it returns."""
        literals = [value.spark for value in values]
        statement, returning = _split(meant(words, values, self.catalogue.relations))
        try:
            return self.written.run(spark_text(statement, literals), self.zone, returning, literals)
        except ProgramError as error:
            raise placed(error, statement, literals, "statement") from None

    def _check_writer(self, what: str) -> None:
        if not self.may_write:
            raise Wrong(
                "42501",
                f"{what}: this connection reads; connect as user '{WRITER}', whose password is the token "
                "that `dbsp serve` printed",
            )

    async def end(self) -> str:
        """What was written outside of BEGIN and COMMIT is a step; what else there is to say."""
        return await self.written.commit() if self.transaction == "I" else ""

    def fail(self) -> None:
        """Give up what was written; of a transaction what comes next, until it ends or goes back."""
        if self.transaction == "T":
            self.transaction = "E"
        elif self.transaction == "I":
            self.written.clear()

    def types_of(self, words: Sequence[Word], oids: Sequence[int]) -> list[int]:
        """Of a statement's parameters, those that the client named included."""
        return inferred(words, oids, self.catalogue.relations)

    def only_reads(self, words: Sequence[Word]) -> bool:
        """Whether it is a statement that does nothing but give rows."""
        first = words[begins_at(words)].upper if words else ""
        if first == "EXECUTE":
            return self.only_reads(self.prepared.executed(words))
        return first in _QUERIES or first in ("SUBSCRIBE", "SHOW", "FETCH")

    async def described(self, prepared: Prepared) -> pa.Schema | None:
        """The columns of what a statement will give; None: it gives no rows."""
        words = prepared.words
        if words and words[0].upper == "EXECUTE":
            return await self.described(Prepared(tuple(self.prepared.executed(words)), prepared.oids))
        unbound = [Value(oid, None) for oid in prepared.oids]
        if _split(words)[1] is not None:
            returning = _split(meant(words, unbound, self.catalogue.relations))[1]
            assert returning is not None
            return await self.evaluating.done(lambda: self._returned(returning, len(prepared.oids)))
        if not self.only_reads(words):
            return None
        if words[0].upper == "SUBSCRIBE":
            return self.following.asked(words).schema
        if words[0].upper == "FETCH":
            return self.cursors.schema(words)
        if words[0].upper == "SHOW":
            return self._shown(words).batch.schema
        calls = calls_of(words)
        if calls is not None:
            return _texts(calls, []).schema
        return await self.evaluating.done(lambda: self.queries.schema(words, unbound, self.zone))

    @property
    def _sees_its_own(self) -> bool:
        """Whether it is within a transaction, which sees one step and what it has changed."""
        return self.transaction == "T" or self.written.has_begun

    def _returned(self, returning: Returning, parameters: int) -> pa.Schema:
        """Of what a statement will return. Raises Error."""
        table = self.pipeline.program.input(returning.table)
        select = returning.select(["NULL"] * parameters)
        plans = self.pipeline.edits().plans.in_zone(self.zone)
        none = returned(ZSet.empty(arrow_schema(table)), table, returning.columns, select, plans)
        return none.schema

    async def _copy(self, words: Sequence[Word], values: Sequence[Value]) -> Copied | Copying:
        copy = copy_of(words)
        if not copy.is_from:
            found = await self.answer(copy.query, values)
            if not isinstance(found, Rows | Followed):
                raise Wrong("42601", "COPY (...): give a query, or SUBSCRIBE TO view")
            return Copied(found, copy)
        self._check_writer("COPY FROM")
        table = self.pipeline.program.input(copy.table)
        columns = {one.name.lower(): one.name for one in table.schema}
        unknown = [name for name in copy.columns if name not in columns]
        if unknown:
            hint = did_you_mean(unknown[0], list(columns))
            listed = ", ".join(columns.values())
            raise Wrong("42703", f"unknown column '{unknown[0]}' in '{table.name}'; columns: {listed}{hint}")
        if len({*copy.columns}) < len(copy.columns):
            raise Wrong("42701", f"COPY {table.name}: a column is listed twice")
        names = [columns[name] for name in copy.columns or columns]
        return Copying(CopiedRows(copy, table, names, self.zone))

    async def copied(self, rows: CopiedRows) -> int:
        """What the client has sent is written, as INSERT does. Raises Error."""

        def write() -> int:
            rows.read(is_last=True)
            try:
                return self.written.do(Insert(rows.table, tuple(rows.names), rows.rows), self.zone)[0]
            except BadRow as error:
                raise rows.wrong(error) from None

        return await self.evaluating.done(write)

    def _command(self, first: str, words: Sequence[Word]) -> Answer:
        if first in ("BEGIN", "START"):
            self.transaction = "T"
            self.settings.begin()
            return Command("BEGIN" if first == "BEGIN" else "START TRANSACTION")
        if first in ("COMMIT", "END", "ROLLBACK", "ABORT"):
            if first == "ROLLBACK" and any(word.upper == "TO" for word in words):
                self.written.back(words[-1].name or "")
                self.transaction = "T"
                return Command("ROLLBACK")
            failed, self.transaction = self.transaction == "E", "I"
            self.written.clear()
            is_back = failed or first in ("ROLLBACK", "ABORT")
            self._ended(committed=not is_back)
            return Command("ROLLBACK" if is_back else "COMMIT")
        if first == "SAVEPOINT":
            self.written.save(words[-1].name or "")
            return Command(first)
        return self._kept(first, words)

    def _kept(self, first: str, words: Sequence[Word]) -> Answer:
        """What a connection keeps: settings, statements and cursors."""
        match first:
            case "SHOW":
                return self._shown(words)
            case "FETCH" | "MOVE":
                return self.cursors.fetched(words)
            case "CLOSE":
                return self.cursors.close(words)
            case "SET":
                self.settings.set(words)
            case "RESET":
                self.settings.reset(words)
            case "PREPARE":
                self.prepared.prepare(words, self.types_of)
            case "DEALLOCATE":
                self.prepared.deallocate(words)
            case "DISCARD":
                if words[-1].upper == "ALL":
                    self.prepared.clear()
                    self.settings.reset(words)
                    self.cursors.close(words)
                return Command("DISCARD ALL")
            case _ if first not in _IGNORED:
                said = f"{words[0].text}: this port knows SELECT, COPY ... TO STDOUT, SUBSCRIBE TO, SHOW"
                raise Wrong("42601", said)
        return Command(first)

    def _shown(self, words: Sequence[Word]) -> Rows:
        if words[-1].upper == "ALL":
            names, values = zip(*sorted(self.settings.values.items()), strict=True)
            return Rows(pa.RecordBatch.from_pydict({"name": names, "setting": values}), tag="SHOW")
        name, value = self.settings.shown(words)
        return Rows(pa.RecordBatch.from_pydict({name: [value]}))


def _split(words: Sequence[Word]) -> tuple[Sequence[Word], Returning | None]:
    """A statement, and what it returns. Raises Wrong."""
    statement, returning = split_returning(words)
    if returning is not None and returning.asks_others:
        raise Wrong("0A000", "RETURNING: expressions over the written rows alone; SELECT the rest after it")
    if words and words[0].upper == "MERGE" and any(word.upper == "RETURNING" for word in words):
        raise Wrong("0A000", "MERGE: RETURNING is of INSERT, UPDATE and DELETE; SELECT the rows after it")
    return statement, returning


def _texts(calls: Sequence[Call], values: Sequence[str | None]) -> pa.RecordBatch:
    """A row of what they give; none where they aren't called."""
    columns = [pa.array(values[i : i + 1], pa.string()) for i in range(len(calls))]
    return pa.RecordBatch.from_arrays(columns, names=[call.name for call in calls])
