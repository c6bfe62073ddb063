"""A project of declarative pipelines, refreshed by `dbsp pipeline run` and by `spark-pipelines run`.

    python -m benchmarks.declared SCALE [FRACTION ...] [--folder FOLDER] [--fewer]

The project is `examples/medallion` over Delta tables, with two targets of AUTO CDC (one of type 2) and what
is made of them: 19 datasets. Orders come with their line items, customers and suppliers have changes, parts
are merged. Spark's last release can't read Delta, so its side has the very files of each version in a
directory, and queries in place of AUTO CDC. Each side has a catalogue and a state of its own, one runs after
the other.

Printed are seconds of a run, from its start to its end as it says them, of the whole process, and of CPU in
all processes of the command; megabytes that came in the tables' files, and that all processes have read and
written, from and to whatever; gigabytes of memory that its processes held at most, what they share counted in
each. After the last run all tables are compared.

All lies in the folder, which is kept where it is named: what is done there isn't done again, so a benchmark
that was cut goes on. A run that was cut is made again, which does what is left of it. With --fewer
`spark-pipelines`, whose runs recompute all and so take about the same, is run first and last only.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.declared.rows import same
from benchmarks.declared.sides import COMMANDS, Ran, Side
from benchmarks.declared.sources import Sources
from benchmarks.tpch.data import generate

FIRST = "first run"


@dataclass
class Record:
    """What is done, in a file."""

    path: Path
    done: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            self.done = json.loads(self.path.read_text())

    def note(self, key: str, found: Any) -> None:
        self.done[key] = found
        self.path.write_text(json.dumps(self.done, indent=1))


def main(scale: float, fractions: Sequence[float], folder: Path, fewer: bool) -> None:
    """Prints a table, as Markdown."""
    made = Path("build") / "tpch" / f"{scale:g}"
    generate(made, scale)
    folder.mkdir(parents=True, exist_ok=True)
    record, sources = Record(folder / "done.json"), Sources(folder / "data", made, fractions)
    sides = [Side(name, folder / name) for name in COMMANDS]
    told = "run, process, CPU (s); came / read / written (MB); held (GB)"
    heads = ("what", "rows", *(f"{side.name}: {told}" for side in sides))
    print(f"| {' | '.join(heads)} | ratio of runs | of processes | of CPU |")
    print("|" + " --- |" * (len(heads) + 3), flush=True)
    for number, what in enumerate([FIRST, *(f"{fraction:.2%}" for fraction in fractions)]):
        if f"rows {number}" not in record.done:
            record.note(f"rows {number}", sources.make(number))
        both = number in (0, len(fractions)) or not fewer
        for side in sides if both else sides[:1]:
            key = f"{side.name} {number}"
            if key in record.done:
                continue
            if not number and f"{side.name} prepared" not in record.done:
                side.prepare(sources.folder)
                record.note(f"{side.name} prepared", True)
            record.note(key, asdict(side.run()))
        ran = [Ran(**record.done[key]) for side in sides if (key := f"{side.name} {number}") in record.done]
        cells = [what, record.done[f"rows {number}"], *ran, *_ratios(*ran)]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    names = sorted(set.union(*(side.names() for side in sides)))
    differ = [name for name in names if not same(*(side.files(name) for side in sides), folder / "scratch")]
    print(f"{len(names)} tables are the same" if not differ else f"these differ: {', '.join(differ)}")


def _ratios(ours: Ran, theirs: Ran | None = None) -> Sequence[str]:
    if theirs is None:
        return [""] * 4
    ratios = (theirs.run / ours.run, theirs.process / ours.process, theirs.cpu / ours.cpu)
    return [f"{ratio:.1f}" for ratio in ratios]


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("scale", type=float)
    asked.add_argument("fractions", type=float, nargs="*", default=[0.0001, 0.001, 0.01, 0.1])
    asked.add_argument("--folder", type=lambda text: Path(text).absolute())
    asked.add_argument("--fewer", action="store_true")
    given = asked.parse_args()
    if given.folder:
        main(given.scale, given.fractions, given.folder, given.fewer)
    else:
        folder = Path(tempfile.mkdtemp(prefix="declared-"))
        main(given.scale, given.fractions, folder, given.fewer)
        shutil.rmtree(folder)
