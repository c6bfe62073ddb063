"""How far the sources are behind: what is there, by the last that is known, and no step has read.

Of Kafka its messages: the ends of the partitions as Spark found them when it planned its last micro-batch,
less where that batch ended. Of a directory its files, less those that batches took. Of other sources nothing
is known, nor of directories within directories.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from dbsp.pipeline.spark.planned import local_path
from dbsp.sql.plans.program import Table
from dbsp.state.records.places import scheme_of
from dbsp.targets.directories import path_of

# files of one source that are remembered; of a source that has had more nothing is said
MOST = 100_000
# which leave files of the directory out
_CHOOSING = ("pathglobfilter", "modifiedafter", "modifiedbefore", "maxfileage", "recursivefilelookup")
MESSAGES, FILES = "messages", "files"


@dataclass
class Unread:
    """tables: the query's sources, in its order. Any thread may ask."""

    tables: list[Table]
    _taken: dict[int, set[str] | None] = field(default_factory=dict)

    def took(self, relation: int, files: list[str], before: Callable[[], Iterable[str]]) -> None:
        """A batch is to read these of a table of files. before: those of all batches that were committed."""
        taken = self._taken[relation] if relation in self._taken else _upto_most(before())
        if taken is not None:
            taken |= {path for path in map(local_path, files) if path is not None}
        self._taken[relation] = taken if taken is None or len(taken) <= MOST else None

    def now(self, query: Any) -> dict[str, tuple[int, str]]:
        """Per table how many, and what they are. query: Spark's."""
        offsets = self._offsets(query) if any(_is_kafka(table) for table in self.tables) else {}
        found = {}
        for relation, table in enumerate(self.tables):
            if _is_kafka(table) and relation in offsets:
                found[table.name] = offsets[relation], MESSAGES
            elif table.is_file:
                files = self._files(relation, table)
                if files is not None:
                    found[table.name] = files, FILES
        return found

    def _offsets(self, query: Any) -> dict[int, int]:
        try:
            progress = query.lastProgress
        except (Py4JError, ConnectionError, PySparkException):  # it is ending
            return {}
        sources = [] if progress is None else progress.sources
        if len(sources) != len(self.tables):
            return {}
        lags = {number: lag(source.endOffset, source.latestOffset) for number, source in enumerate(sources)}
        return {number: behind for number, behind in lags.items() if behind is not None}

    def _files(self, relation: int, table: Table) -> int | None:
        taken = self._taken.get(relation)
        if taken is None or any(name.lower() in _CHOOSING for name in table.options):
            return None
        if scheme_of(path_of(table)) is not None:  # of a store, which a list would be asked of
            return None
        there: set[str] = set()
        for path in glob.glob(path_of(table)):
            if not os.path.isdir(path):
                there.add(path)
                continue
            with os.scandir(path) as entries:
                visible = [entry for entry in entries if not entry.name.startswith(("_", "."))]
            if any(entry.is_dir() for entry in visible):
                return None
            there |= {entry.path for entry in visible}
        return len(there - taken)


def lag(end: str | None, latest: str | None) -> int | None:
    """Messages between two offsets of Kafka's, over all partitions; None: one of them isn't known."""
    try:
        read, there = json.loads(end or ""), json.loads(latest or "")
    except ValueError:
        return None
    if not isinstance(read, Mapping) or not isinstance(there, Mapping):
        return None
    behind = 0
    for topic, partitions in there.items():
        for partition, offset in partitions.items():
            behind += max(0, offset - read.get(topic, {}).get(partition, 0))
    return behind


def _is_kafka(table: Table) -> bool:
    return (table.format or "").lower() == "kafka"


def _upto_most(files: Iterable[str]) -> set[str] | None:
    taken: set[str] = set()
    for file in files:
        path = local_path(file)
        if path is not None:
            taken.add(path)
        if len(taken) > MOST:
            return None
    return taken
