"""How much history a state directory keeps: a rule, which the directory remembers in DIR/keep.json.

A step is kept while it is one of the last `steps`, or was the current one at some time in the last `span`,
by the steps' own instants (`dbsp.running.clock.instant`). So whoever keeps a week can ask for any moment of
it. Steps that a tag pins are kept beside these (`dbsp.state.keeping.tags`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import Error
from dbsp.state.records.commits import write_whole
from dbsp.state.records.places import Place
from dbsp.state.records.sealed import read_sealed, seal

NAME = "keep.json"
STEPS = 10
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True)
class Keep:
    """steps: at least 1. span: None: no step is kept for its time."""

    steps: int = STEPS
    span: timedelta | None = None

    @staticmethod
    def of(steps: int | None, span: timedelta | str | None) -> Keep | None:
        """What a caller asks for; None: nothing, so that the directory's own rule stands. Raises Error."""
        if steps is None and span is None:
            return None
        if steps is not None and steps < 1:
            raise Error(f"keep_steps={steps}: at least the last step must be kept; use 1 or more")
        found = span_of(span) if isinstance(span, str) else span
        if found is not None and found <= timedelta(0):
            raise Error(f"keep_for={span}: is no time; write it as 7d, 12h or 30m")
        return Keep(STEPS if steps is None else steps, found)

    def at_least(self, steps: int) -> Keep:
        """The same, of no fewer steps."""
        return Keep(max(self.steps, steps), self.span)

    def __str__(self) -> str:
        span = "" if self.span is None else f", keep_for={self.span}"
        return f"keep_steps={self.steps}{span}"


def span_of(text: str) -> timedelta:
    """'7d'. Raises Error."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", text.lower())
    if match is None:
        raise Error(f"'{text}' is no time; write it as 7d, 12h or 30m")
    try:
        return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    except OverflowError:
        raise Error(f"'{text}' is longer than all time; write it as 7d, 12h or 30m") from None


def read_keep(root: Place) -> Keep:
    """The directory's rule, or the one that holds where nobody gave any. Raises StateError."""
    advice = "restore it from a backup, or delete it and give --keep-steps and --keep-for again"
    record: Any = read_sealed("keep", root / NAME, advice)
    if record is None:
        return Keep()
    return Keep(record["steps"], None if record["seconds"] is None else timedelta(seconds=record["seconds"]))


def write_keep(root: Place, keep: Keep, durable: bool) -> None:
    """From now on."""
    record = {"steps": keep.steps, "seconds": None if keep.span is None else keep.span.total_seconds()}
    with disk(root / NAME):
        write_whole(root / NAME, seal("keep", record), durable)
