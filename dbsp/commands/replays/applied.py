"""How much of a replay file a state holds, for who is told of a failure and would give it all once more."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from dbsp.pipeline.pipeline import Pipeline


class Applied:
    """Within, what ends a replay has a note of the steps that it made. state: None where they end, too."""

    def __init__(self, state: str | None) -> None:
        self._state = state
        self._pipeline: Pipeline | None = None
        self._name, self._before = "", 0
        self._ends: Sequence[str] = ()

    def begin(self, pipeline: Pipeline, name: str, ends: Sequence[str]) -> None:
        """Before the first step of a file. ends: of its steps, see `StepOfFile`."""
        self._pipeline, self._before, self._name, self._ends = pipeline, pipeline.last_step, name, ends

    def said(self) -> str | None:
        """None where the file can be given again as a whole."""
        if self._state is None or self._pipeline is None:
            return None
        # as the disk has it: an interrupt may have come between a commit and its lines
        first, last = self._before + 1, self._pipeline.last_step
        if last < first:
            return None
        steps = f"step {first} is" if first == last else f"steps {first} to {last} are"
        made = last - self._before
        if made >= len(self._ends):
            return f"{self._state}: {steps} committed: all of {self._name}; don't give it again"
        return (
            f"{self._state}: {steps} committed: {self._name} up to {self._ends[made - 1]}; "
            "go on with what follows that, and don't give it again"
        )

    def __enter__(self) -> Applied:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        said = self.said() if error is not None else None
        if error is not None and said is not None:
            error.add_note(said)
