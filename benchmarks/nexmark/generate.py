"""Write Nexmark events as Parquet: OUT/{person,auction,bid}/part-NNNNNN.parquet, one file per table and step.

A Spark file stream takes files in order of modification time, so each file gets the time of its step: with
`maxFilesPerTrigger=1` on every table, micro-batch k reads exactly the events of step k. A step without rows
of a table still has its file, to keep the tables abreast.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.nexmark.generator import SCHEMAS, Generator

_FIRST_FILE_TIME = 1_704_067_200  # seconds since 1970; only the order matters


def write(
    generator: Generator, events: int, step: int, out: Path, progress: Callable[[int], None] = lambda _: None
) -> int:
    """Returns the number of steps written. progress(events so far) is called after each.

    Replaces the three tables under `out`, and nothing else there.
    """
    for table in SCHEMAS:
        shutil.rmtree(out / table, ignore_errors=True)
        (out / table).mkdir(parents=True)
    starts = range(0, events, step)
    for number, first in enumerate(starts):
        for table, rows in generator.events(first, min(first + step, events)).items():
            path = out / table / f"part-{number:06d}.parquet"
            with pq.ParquetWriter(path, rows.schema) as writer:
                writer.write_batch(rows)
            os.utime(path, (_FIRST_FILE_TIME + number,) * 2)
        progress(min(first + step, events))
    return len(starts)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark.generate", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="how many (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="directory")
    parser.add_argument("--step", type=int, default=100_000, help="events per file (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=10_000.0, help="events per second of event time")
    parser.add_argument("--disorder", type=int, default=1, help="events shuffled within groups of so many")
    options = parser.parse_args(arguments)
    if options.events < 0 or options.step < 1:
        parser.error("--events must not be negative and --step must be positive")
    try:
        generator = Generator(seed=options.seed, rate=options.rate, disorder=options.disorder)
    except ValueError as error:
        parser.error(str(error))
    steps = write(generator, options.events, options.step, options.out)
    print(f"{options.events:,} events in {steps:,} steps under {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
