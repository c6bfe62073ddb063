"""How much of a replay file a state holds, for who is told of a failure and would give it all once more."""

from __future__ import annotations

from types import TracebackType

from dbsp.pipeline.pipeline import Pipeline


class Applied:
    """Within, what ends a replay has a note of the steps that it made. state: None where they end, too.

    ends: of the steps that were begun, see `StepOfFile`. is_read: they are all.
    """

    def __init__(self, state: str | None) -> None:
        self._state = state
        self._pipeline: Pipeline | None = None
        self._name, self._before = "", 0
        self.ends: list[str] = []
        self.is_read = False

    def begin(self, pipeline: Pipeline, name: str) -> None:
        """Before the first step of a file."""
        self._pipeline, self._before, self._name = pipeline, pipeline.last_step, name

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
        if (self.is_read and made >= len(self.ends)) or not self.ends[made - 1]:
            return f"{self._state}: {steps} committed: all of {self._name}; don't give it again"
        return (
            f"{self._state}: {steps} committed: {self._name} up to {self.ends[made - 1]}; "
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
