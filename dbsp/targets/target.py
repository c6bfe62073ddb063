"""What a step's changes are written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dbsp.sql.plans.program import Insert

# An INSERT, and the chunks that hold what a step changed in its view.
Change = tuple[Insert, Sequence[list[object]]]


class Target(Protocol):
    """A table that something is inserted into.

    directory: of its files, or None. Errors are anybody's: of a step that wasn't written, or of which that
    isn't known; it is written again.
    """

    @property
    def directory(self) -> str | None: ...

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """All changes of a step, of which there are some. It may have been written before."""
        ...

    def why(self, error: Exception) -> str:
        """What `write` has raised, in one line."""
        ...

    def close(self) -> None: ...
