"""What OPTIONS say of the messages that a table takes, where that can be read without Spark's planning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.direct.client import Client
from dbsp.pipeline.spark.direct.spans import Place
from dbsp.sql.plans.program import Table

# of Spark's planning what needs nothing here, since nothing is planned
_NEEDLESS = {"minpartitions", "fetchoffset.numretries", "fetchoffset.retryintervalms", "failondataloss"}
_NEEDLESS |= {"kafkaconsumer.polltimeoutms"}


class NoTopic(Error):
    """A broker doesn't know it; one that has just begun may come to."""


@dataclass(frozen=True)
class Subscribed:
    """table: as errors name it. is_whole: whether it begins with what is there already. most: messages of a
    step, or None.
    """

    table: str
    topics: tuple[str, ...]
    is_whole: bool
    most: int | None

    def places(self, client: Client, timeout: float) -> set[Place]:
        """The partitions that there are now. Raises NoTopic, KafkaException."""
        from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415  an extra

        found: set[Place] = set()
        for topic in self.topics:
            try:
                found |= {(topic, number) for number in client.partitions(topic, timeout)}
            except KafkaException as error:
                if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
                what = f"topic '{topic}' is not there; create it, or correct OPTIONS (subscribe ...)"
                raise NoTopic(f"{self.table}: {what}") from error
        return found

    def beginnings(self, client: Client, places: Iterable[Place], timeout: float) -> dict[Place, int]:
        """Where a new stream begins. Raises KafkaException."""
        return {place: client.edges(place, timeout)[0 if self.is_whole else 1] for place in places}


def subscribed(table: Table, planning: Iterable[str]) -> Subscribed | None:
    """None: they say what only Spark's planning does. planning: the options that do, in lower case."""
    given: Mapping[str, str] = {name.lower(): value for name, value in table.options.items()}
    starting = given.get("startingoffsets", "latest").lower()
    known = {"subscribe", "startingoffsets", "maxoffsetspertrigger", *_NEEDLESS}
    if given.keys() & {*planning} - known or starting not in ("earliest", "latest"):
        return None
    if "subscribe" not in given:
        return None
    most = given.get("maxoffsetspertrigger")
    topics = dict.fromkeys(topic.strip() for topic in given["subscribe"].split(","))
    named = f"{table.location}: table '{table.name}'"
    return Subscribed(named, tuple(topics), starting == "earliest", None if most is None else int(most))
