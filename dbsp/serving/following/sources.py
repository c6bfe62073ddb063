"""How far sources are behind: what they have that no step has read, since when a table had no row, and which
don't answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.changes import Changes

# seconds for which an answer is good: who asks has Spark asked, and files listed
_GOOD = 1.0


@dataclass
class Sources:
    """Told of each step by `made`."""

    pipeline: Pipeline
    _seen: dict[str, float] = field(default_factory=dict)
    _asked: tuple[float, asyncio.Task[dict[str, tuple[int, str]]]] | None = None

    def __post_init__(self) -> None:
        program = self.pipeline.program
        self.formats = {table.name: table.format for table in program.inputs.values() if table.format}

    def made(self, changes: Changes) -> None:
        """From any thread."""
        for table, rows in changes.metrics.rows_in.items():
            if rows and table in self.formats:
                self._seen[table] = time.monotonic()

    @property
    def quiet(self) -> Mapping[str, float]:
        """Seconds since a table had a row, of those that had one in this process."""
        return {table: time.monotonic() - moment for table, moment in [*self._seen.items()]}

    async def unread(self) -> dict[str, tuple[int, str]]:
        """As `Pipeline.unread`, at most so old; however many ask, one is answered."""
        now = time.monotonic()
        if self._asked is None or now - self._asked[0] > _GOOD:
            self._asked = now, asyncio.create_task(asyncio.to_thread(lambda: self.pipeline.unread))
        return await asyncio.shield(self._asked[1])

    async def listed(self) -> list[dict[str, object]]:
        """All of them, in the order of the program."""
        unread, quiet, away = await self.unread(), self.quiet, self.pipeline.absent_sources
        found: list[dict[str, object]] = []
        for table, form in self.formats.items():
            count, unit = unread.get(table, (None, None))
            said: dict[str, object] = {"table": table, "format": form, "unread": count, "unit": unit}
            said["quiet"], said["away"] = quiet.get(table), away.get(table)
            found.append(said)
        return found
