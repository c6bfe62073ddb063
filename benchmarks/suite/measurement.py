"""What was measured: of one workload and one engine, every warm step of a run, merges included.

`whole` is all events over all seconds: a median hides the steps in which merges fall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Measurement:
    """part: of the report. seconds: of each step, at least one. events: of each step, 0: that isn't asked.

    cpu: seconds of all cores, of all processes, for these steps. peak, mapped: bytes of memory, at most, of
    all processes; of files that are mapped, which the system may take back. stored: bytes of state on disk,
    and as Parquet what it holds, where that was measured. at: where on a curve.
    """

    part: str
    what: str
    who: str
    seconds: tuple[float, ...]
    events: int = 0
    cpu: float = 0.0
    peak: int = 0
    mapped: int = 0
    stored: int = 0
    parquet: int = 0
    at: float = 0.0

    def percentile(self, percent: float) -> float:
        return float(np.percentile(self.seconds, percent))

    @property
    def whole(self) -> float:
        """Events a second."""
        return self.events * len(self.seconds) / sum(self.seconds)

    @property
    def cpu_of_step(self) -> float:
        return self.cpu / len(self.seconds)

    def line(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def read(record: dict[str, Any]) -> Measurement:
        return Measurement(**{**record, "seconds": tuple(record["seconds"])})


def save(path: Path, machine: dict[str, str], measured: Iterable[Measurement]) -> None:
    """machine: what was measured on, by name."""
    document = {"machine": machine, "measured": [asdict(each) for each in measured]}
    path.write_text(json.dumps(document, indent=1) + "\n")


def load(path: Path) -> tuple[dict[str, str], list[Measurement]]:
    document = json.loads(path.read_text())
    return document["machine"], [Measurement.read(record) for record in document["measured"]]
