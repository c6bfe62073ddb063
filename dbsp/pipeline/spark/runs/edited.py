"""Files of a source that were edited, or deleted, after they were read. Spark reads none twice: it is said.

By what Spark's log has of each file, its time of modification. Of a source whose files the source itself
moves or deletes (`cleanSource`) only edits are looked for.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from dbsp.pipeline.spark.planned import entries_before, local_path
from dbsp.sql.plans.program import Table

log = logging.getLogger("dbsp")

# the newest of a source; and how many of a look are named
_MOST, _NAMED = 10_000, 3
# seconds from one look of a run to the next
_EVERY = 60.0


@dataclass
class Edited:
    """tables: the query's sources, in its order. _said: of which files."""

    checkpoint: Path
    tables: list[Table]
    _said: set[tuple[int, str, int | None]] = field(default_factory=set)
    _looked: float = 0.0

    def look(self, batch: int) -> None:
        """Warn of the files that the batches before this one took, of each change once. O(files)."""
        self._looked = time.monotonic()
        for relation, table in enumerate(self.tables):
            if table.is_file and table.changelog is None:
                try:
                    self._look(relation, table, batch)
                except (OSError, ValueError, LookupError, AssertionError) as error:
                    # it is Spark's log; what can't be told of it stops no run
                    log.debug("can't tell whether files of '%s' were edited: %s", table.name, error)

    def look_again(self, batch: int) -> None:
        """The same, where it is time."""
        if time.monotonic() - self._looked >= _EVERY:
            self.look(batch)

    def _look(self, relation: int, table: Table, batch: int) -> None:
        keeps = table.option("cleanSource", "off").lower() == "off"
        found: dict[str, list[str]] = {"edited": [], "deleted": []}
        for entry in islice(entries_before(self.checkpoint, relation, batch), _MOST):
            path = local_path(entry["path"])
            if path is None:
                continue
            modified = modified_at(path)
            change = relation, path, modified
            if modified == entry["timestamp"] or change in self._said or (modified is None and not keeps):
                continue
            self._said.add(change)
            found["deleted" if modified is None else "edited"].append(path)
        for what, paths in found.items():
            if paths:
                named = ", ".join(f"'{path}'" for path in paths[:_NAMED])
                more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
                log.warning(
                    "table '%s': %s%s: %s after it was read, which changes nothing here; a new file is read, "
                    "and WITH (snapshot = 'every step') compares files that change",
                    table.name, named, more, what,
                )  # fmt: skip


def modified_at(path: str) -> int | None:
    """In milliseconds, as Spark has it; None where it is gone."""
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return None
