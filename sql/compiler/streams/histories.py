"""Views without STREAM over streams: each needs its relations' history.

A stream has one where it is declared so. A view serves both: where a SELECT STREAM reads it it is kept for
that, and is a relation for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbsp.sql.compiler.streams.select_stream import without_history
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import View
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice


@dataclass
class Histories:
    """streams: whether each has a history. unread: of views without one that no SELECT STREAM has read yet,
    their texts, and their plans. A text is None where the view may stay so.
    """

    source: Source
    streams: Mapping[str, bool]
    views: Mapping[str, View]
    unread: dict[str, tuple[Slice | None, Plan]] = field(default_factory=dict)

    def add(self, name: str, kind: str, text: Slice, plan: Plan) -> None:
        """A view that says no STREAM. LOCAL ones are only definitions."""
        self.unread[name] = None if kind == "local" else text, plan

    def serve(self, plan: Plan) -> None:
        """A stream reads these relations, so that they are there for it."""
        for name in plan.scanned():
            _, read = self.unread.pop(name, (None, None))
            if read is not None:
                self.serve(read)

    def check(self) -> None:
        """Raises ProgramError for a view that reads what is not kept."""
        for text, plan in self.unread.values():
            lacking = [name for name in plan.scanned() if not self._is_kept(name)]
            if text is not None and lacking:
                raise without_history(self.source, text, min(lacking))

    def _is_kept(self, name: str) -> bool:
        """Whether its history is: of a table, of a view that a stream reads, and of what is made of such."""
        if self.streams.get(name) is not False:
            return True
        view = self.views.get(name)
        if view is None:
            return False
        served = view.kind != "local" and name not in self.unread
        return served or all(map(self._is_kept, view.plan.scanned()))
