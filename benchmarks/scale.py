"""How fast a step of ten million events is on 1 to 256 cores: a model, with constants that were measured.

    python -m benchmarks.scale        a table; the suite writes it into RESULTS.md, and draws it

    T(P) = driver + levels · task + S · work / P + merges(P) + shuffle · MB / P

S is the largest task's share over the mean, which grows with the number of tasks where rows are cut by
tables; work is the CPU of the step's operators, in slices small enough for the cache; merges are pieces of
at most a number of rows, at most so many at once. What one core does is from `results.json` where the suite
was run, and what moves between tasks from counting it; the constants of Spark are of one machine, whose
cores are not those of a cluster. It says what stops scale first, and nothing of networks that are shared or
disks that are slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.suite.curves import drawn
from benchmarks.suite.measurement import load

HERE = Path(__file__).parent
EVENTS = 10_000_000
CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CURVE = "scale.svg"


@dataclass(frozen=True)
class Spark:
    """Seconds. driver: its Python and JVM for a step (20 to 40 ms of CPU measured). task: of one that does
    nothing, warm (52 to 56 ms of worker, 14 to 20 of JVM). shuffle: of a MB.

    pieces: of merges that run at once at most; None: as many as there are tasks. spread: by how much the
    largest task's share exceeds the mean, for each doubling of tasks (q9, 16 tasks: 1.4). feed: seconds of
    the driver for a million events that it writes itself; staged DataFrames don't need it.
    """

    driver: float = 0.040
    task: float = 0.070
    shuffle: float = 0.0043
    pieces: int | None = 64
    spread: float = 0.10
    feed: float = 0.0


@dataclass(frozen=True)
class Query:
    """Of a million events: CPU seconds in operators and in merges, MB that move. levels: a step's stages."""

    work: float
    merges: float
    moved: float
    levels: int


# Seconds of one core at 16 slices of 2 M events, and MB sent, of `run_step` in process.
MEASURED = {
    "q4": Query(0.8, 0.35, 32, 3),
    "q5": Query(3.3, 0.3, 34, 3),
    "q9": Query(1.6, 0.7, 58, 2),
    "q18": Query(1.25, 0.3, 123, 2),
    "q19": Query(2.15, 0.5, 123, 2),
    "q20": Query(1.3, 0.6, 125, 2),
}


def seconds(query: Query, cores: int, spark: Spark, events: int = EVENTS) -> float:
    """Of a step."""
    millions = events / 1e6
    spread = 1 + spark.spread * (cores.bit_length() - 1)
    work = spread * query.work * millions / cores
    merging = min(cores, spark.pieces or cores)
    merges = query.merges * millions / merging
    moved = spark.shuffle * query.moved * millions / cores
    return spark.driver + query.levels * spark.task + work + merges + moved + spark.feed * millions


def rates(query: Query, spark: Spark) -> list[tuple[float, float]]:
    """Cores, and millions of events a second."""
    return [(cores, EVENTS / 1e6 / seconds(query, cores, spark)) for cores in CORES]


def calibrated(results: Path = HERE / "results.json") -> Mapping[str, Query]:
    """The queries with the CPU that this machine's run of the suite measured, where there is one."""
    if not results.exists():
        return MEASURED
    of_step = {
        one.what: one.cpu_of_step * 1e6 / one.events
        for one in load(results)[1]
        if one.part == "Nexmark, in process" and one.what in MEASURED
    }
    found = {}
    for name, query in MEASURED.items():
        share = query.merges / (query.work + query.merges)
        cpu = of_step.get(name, query.work + query.merges)
        found[name] = Query(cpu * (1 - share), cpu * share, query.moved, query.levels)
    return found


def section(results: Path) -> str:
    """Of RESULTS.md: millions of events a second."""
    lines = [("query", *(f"{cores}" for cores in CORES)), ("---", *("---:" for _ in CORES))]
    for name, query in calibrated(results).items():
        lines.append((name, *(f"{rate:.1f}" for _, rate in rates(query, Spark()))))
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return (
        "\n## A model: steps of ten million events on 1 to 256 cores\n\n"
        "Computed, not run: millions of events a second on so many cores of Spark, from the CPU in process\n"
        "above, what moves between tasks, and what Spark's tasks and steps cost (`benchmarks/scale.py`).\n\n"
        f"{table}\n\n![The model](curves/{CURVE})\n"
    )


def curve(results: Path) -> str:
    """An SVG document."""
    lines = {name: rates(query, Spark()) for name, query in calibrated(results).items()}
    return drawn("A model: steps of ten million events", "cores", "M events/s", lines)


def main() -> None:
    print(section(HERE / "results.json"))


if __name__ == "__main__":
    main()
