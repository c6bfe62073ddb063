"""A table of Kafka's messages that is written without Spark."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dbsp.pipeline.spark.messages.columns import Message, MessageColumns
from dbsp.pipeline.spark.messages.producing import Producing, producer_settings
from dbsp.pipeline.spark.messages.transactions import Transactions
from dbsp.sql.plans.program import OP
from dbsp.targets.outlet import Outlet
from dbsp.targets.target import Change


def producing_of(outlet: Outlet) -> Producing | Transactions | None:
    """What writes the table's messages; None: Spark's connector is to. Raises ProgramError."""
    table, topic = outlet.table, outlet.table.option("topic")
    if table.in_transactions:
        return Transactions(outlet)
    settings = producer_settings(table)
    if settings is None or not topic or importlib.util.find_spec("confluent_kafka") is None:
        return None
    return Producing(topic, settings)


@dataclass
class Produced:
    """producing: what writes it. directory: it has no files."""

    outlet: Outlet
    producing: Producing | Transactions
    directory: str | None = None
    _columns: dict[bool, MessageColumns] = field(default_factory=dict)

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """Encoded as the client takes them."""
        self.producing.write(step, self._messages(step, changes))

    def _messages(self, step: int, changes: Sequence[Change]) -> Iterator[Message]:
        op = not any(field.name.lower() == OP for field in self.outlet.table.schema)
        for change in changes:
            is_upsert = change[0].shape == "upsert"
            if is_upsert not in self._columns:
                timezone = self.outlet.program.timezone
                self._columns[is_upsert] = MessageColumns(self.outlet.table, timezone, is_upsert)
            for records in self.outlet.records(step, [change], op):
                yield from self._columns[is_upsert].of(records, step)

    def why(self, error: Exception) -> str:
        """In one line."""
        return str(error).strip().partition("\n")[0]

    def close(self) -> None:
        """Leave the broker."""
        self.producing.close()
