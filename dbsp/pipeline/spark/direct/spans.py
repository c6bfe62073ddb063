"""Which messages of Kafka's a micro-batch takes, as Spark has planned it.

Spark's connector says where a batch ends in each partition; it began where the one before ended, the first
one where the connector wrote down that the stream begins. A partition that came later begins at 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from dbsp.pipeline.spark.planned import end_of_batch

# a partition of a topic
Place: TypeAlias = tuple[str, int]
# messages of one task, at least
_WORTH_A_TASK = 20_000


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Of a partition the messages from the offset `first` to before `end`."""

    topic: str
    partition: int
    first: int
    end: int

    @property
    def messages(self) -> int:
        """At most: of transactions, and where a topic is compacted, not every offset is one."""
        return self.end - self.first


def planned_spans(checkpoint: Path, relation: int, batch: int) -> list[Span]:
    """What a batch takes of the source at that place of the query; none of them is empty."""
    end = end_of_batch(checkpoint, relation, batch)
    if end is None:
        return []
    before = end_of_batch(checkpoint, relation, batch - 1) if batch else None
    begins = places_of(before if before is not None else beginning(checkpoint, relation))
    spans = (Span(*place, begins.get(place, 0), offset) for place, offset in places_of(end).items())
    return sorted(span for span in spans if span.messages > 0)


def places_of(offsets: str) -> Mapping[Place, int]:
    """Offsets as Spark writes them."""
    return {
        (topic, int(partition)): offset
        for topic, partitions in json.loads(offsets).items()
        for partition, offset in partitions.items()
    }


def spelled(places: Mapping[Place, int]) -> str:
    """Offsets as Spark reads them."""
    topics: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(places.items()):
        topics.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(topics, separators=(",", ":"))


def beginning(checkpoint: Path, relation: int) -> str:
    """Where the source began: behind a byte 0, which a Spark of long ago wants, and the version."""
    version, _, offsets = (checkpoint / "sources" / str(relation) / "0").read_text().partition("\n")
    assert version.lstrip("\0") == "v1", f"offsets of version {version}"
    return offsets


def shared_out(spans: Iterable[tuple[int, Span]], tasks: int) -> list[list[tuple[int, Span]]]:
    """Of at most that many tasks the spans of each, which have a relation each; of about as many messages."""
    given = list(spans)
    total = sum(span.messages for _, span in given)
    most = max(-(-total // tasks), _WORTH_A_TASK)
    parts = [(relation, part) for relation, span in given for part in _parts(span, most)]
    shares: list[list[tuple[int, Span]]] = [[] for _ in range(min(tasks, len(parts)))]
    loads = [0] * len(shares)
    for relation, part in sorted(parts, key=lambda each: -each[1].messages):
        least = loads.index(min(loads))
        shares[least].append((relation, part))
        loads[least] += part.messages
    return shares


def _parts(span: Span, most: int) -> Sequence[Span]:
    count = -(-span.messages // most)
    cuts = [span.first + span.messages * i // count for i in range(count + 1)]
    return [replace(span, first=first, end=end) for first, end in pairwise(cuts)]
