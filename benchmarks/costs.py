"""What ten fixed programs cost, beside the last release's: CPU seconds by those of a fixed piece of work.

    python -m benchmarks.costs             a table
    python -m benchmarks.costs --record    keeps it in costs.json, where a cost is meant to change

Two figures a program. `work`: the user's CPU of three large steps, divided by that of `calibration` in the
same run, the least of several each: so a slower machine, or one that others use, changes it little. `calls`:
how many functions a step of 100 events calls, of Python and of C, which no load changes: what a step costs
however small it is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from types import FrameType

import numpy as np
import pyarrow as pa

from benchmarks.nexmark.generator import Generator
from benchmarks.nexmark.queries import program
from benchmarks.suite.stepping import Opened, Tables, insert
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program

FILE = Path(__file__).with_suffix(".json")
QUERIES = ("q3", "q4", "q5", "q7", "q9", "q15", "q17", "q18", "q19", "q20")
LARGE, SMALL, SMALL_STEPS = 40_000, 100, 4
ROUNDS = 3


def costs(compiled: Program, times: int = ROUNDS) -> dict[str, float]:
    """Of one program: work and calls."""
    large, small = _events()
    work, unit, calls = [], [], 0
    for _ in range(times):
        unit.append(_cpu(calibration))
        with Opened(compiled, "inline") as pipeline:
            work.append(sum(_cpu(_queued(pipeline, events)) for events in large))
            if not calls:
                calls = min(_calls(_queued(pipeline, events)) for events in small)
    return {"work": min(work) / min(unit), "calls": calls}


@cache
def _events() -> tuple[list[Tables], list[Tables]]:
    """Of the large steps, and of the small ones after them."""
    generator, first = Generator(), 3 * LARGE
    large = [generator.events(n * LARGE, (n + 1) * LARGE) for n in range(3)]
    small = [generator.events(first + n * SMALL, first + (n + 1) * SMALL) for n in range(SMALL_STEPS)]
    return large, small


def calibration() -> None:
    """What steps are made of, in fixed amounts: sorts, gathers of strings, and calls of Python."""
    random = np.random.default_rng(0)
    keys = random.integers(0, 1 << 63, 200_000).astype(np.uint64)
    order = np.argsort(keys)
    texts = pa.array([f"some text {n}" for n in range(20_000)])
    texts.take(pa.array(order % 20_000))
    np.add.reduceat(keys[order], np.arange(0, len(keys), 4))
    counts: dict[int, int] = {}
    for n in range(100_000):
        counts[n % 1_000] = counts.get(n % 1_000, 0) + 1


def recorded() -> dict[str, dict[str, float]]:
    """The last release's, by program."""
    return json.loads(FILE.read_text())


def _queued(pipeline: object, events: Tables) -> Callable[[], object]:
    insert(pipeline, events)  # type: ignore[arg-type]
    return pipeline.step  # type: ignore[attr-defined]


def _cpu(run: Callable[[], object]) -> float:
    """Without the system's share: a virtual machine's fresh pages cost ten times as much at times.

    The kernel shares out what a process had since it began, by ticks, and takes nothing back: so the user's
    part may stand still, and then jump. It is taken for half of all at least, and for all at most.
    """
    began, before = getrusage(RUSAGE_SELF).ru_utime, process_time()
    run()
    user, both = getrusage(RUSAGE_SELF).ru_utime - began, process_time() - before
    return min(max(user, both / 2), both)


def _calls(run: Callable[[], object]) -> int:
    """How many functions this thread calls."""
    count = 0

    def seen(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def table(found: Mapping[str, Mapping[str, float]], before: Mapping[str, Mapping[str, float]]) -> str:
    lines = [f"{'':6}{'work':>8}{'before':>8}{'':8}{'calls':>8}{'before':>8}"]
    for query, cost in found.items():
        was = before.get(query, cost)
        lines.append(
            f"{query:6}{cost['work']:8.2f}{was['work']:8.2f}{cost['work'] / was['work']:7.2f}×"
            f"{cost['calls']:8,.0f}{was['calls']:8,.0f}{cost['calls'] / was['calls']:7.2f}×"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args(arguments)
    found = {query: costs(load_program(program(query))) for query in QUERIES}
    print(table(found, recorded() if FILE.exists() else found))
    if options.record:
        rounded = {q: {"work": round(c["work"], 3), "calls": c["calls"]} for q, c in found.items()}
        FILE.write_text(json.dumps(rounded, indent=1) + "\n")


if __name__ == "__main__":
    main()
