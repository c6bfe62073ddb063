"""Run the benchmarks and print a Markdown table, figures of the same work beside each other.

python -m benchmarks.report [--from REPORT.json] [arguments of pytest, such as -k latency]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.figures import Figure, read


def table(figures: Iterable[Figure]) -> str:
    """One line a figure; ratios are to the last line of the same work."""
    by_work: dict[str, list[Figure]] = {}
    for figure in figures:
        by_work.setdefault(figure.what, []).append(figure)
    lines = [
        "| what | who | p50 | p95 | events/s | p50, to the last |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for what, group in by_work.items():
        for figure in group:
            rate = f"{figure.events_per_second:,.0f}" if figure.events else ""
            ratio = f"{figure.p50 / group[-1].p50:.2f}×" if figure is not group[-1] else ""
            cells = [what, figure.who, _duration(figure.p50), _duration(figure.p95), rate, ratio]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("--from", dest="report", type=Path, help="of an earlier run; runs nothing")
    options, of_pytest = parser.parse_known_args(arguments)
    status = 0
    report = options.report
    if report is None:
        report = Path(".benchmarks", "last.json")
        report.parent.mkdir(exist_ok=True)
        here = str(Path(__file__).parent)
        status = int(pytest.main([here, "--benchmark-json", str(report), "--benchmark-quiet", *of_pytest]))
    print(f"\n{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    print(table(read(json.loads(report.read_text()))))
    return status


if __name__ == "__main__":
    sys.exit(main())
