"""RESULTS.md: a table a part, with whole runs beside percentiles, and the curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.suite.curves import drawn
from benchmarks.suite.measurement import Measurement

CURVES = "Curves: "
_ACROSS = {
    "delta": "rows in a step",
    "state": "rows of state",
    "views": "views in the program",
    "skew": "% of rows of one key",
}
_HEAD = """# Results

Written by `{command}`, on {date}. {processor}, {cores} cores, {memory}; {versions}.

Every step of a run counts, but the first two or three: `whole` is all their events over all their seconds,
merges included. Steps commit durably. Events of tables that a query doesn't read count, too. CPU is of all
cores and processes, for a step; memory is what the processes had of their own at most, files that are
mapped apart. Spark is local, so steps of up to a million rows are made by its driver's process: on a cluster
they are jobs, which take 40 to 90 ms more. Where others used the machine meanwhile, seconds are longer than
they need be; CPU is less so.
"""


def document(machine: Mapping[str, str], measured: Iterable[Measurement]) -> str:
    parts: dict[str, list[Measurement]] = {}
    for each in measured:
        parts.setdefault(each.part, []).append(each)
    texts = [_HEAD.format(**machine)]
    for part, found in parts.items():
        texts.append(f"## {part}\n\n{table(found)}\n")
        if part.startswith(CURVES):
            texts.append(f"![{part}](curves/{_file(part)})\n")
    return "\n".join(texts)


def table(measured: Sequence[Measurement]) -> str:
    """One line each. Columns that are empty throughout are left out."""
    rows = [_cells(each) for each in measured]
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    left = {"what", "who"}
    lines = [names, ["---" if name in left else "---:" for name in names]]
    lines += [[row[name] for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def curves(measured: Iterable[Measurement]) -> dict[str, str]:
    """SVG documents by the name of their file: seconds of a step, of p50 and of its CPU."""
    parts: dict[str, list[Measurement]] = {}
    for each in measured:
        if each.part.startswith(CURVES):
            parts.setdefault(each.part, []).append(each)
    return {
        _file(part): drawn(
            f"A step's time by {part.removeprefix(CURVES)}",
            _ACROSS[part.removeprefix(CURVES)],
            "ms",
            {
                "p50": [(each.at, 1e3 * each.percentile(50)) for each in found],
                "p95": [(each.at, 1e3 * each.percentile(95)) for each in found],
                "CPU": [(each.at, 1e3 * each.cpu_of_step) for each in found],
            },
        )
        for part, found in parts.items()
    }


def _cells(one: Measurement) -> dict[str, str]:
    alone = len(one.seconds) == 1
    return {
        "what": one.what,
        "who": one.who,
        "p50": _duration(one.percentile(50)),
        "p95": "" if alone else _duration(one.percentile(95)),
        "p99": "" if len(one.seconds) < 20 else _duration(one.percentile(99)),
        "p99 / p50": "" if len(one.seconds) < 50 else f"{one.percentile(99) / one.percentile(50):.2f}",
        "whole, events/s": _rounded(one.whole) if one.events else "",
        "CPU a step": _duration(one.cpu_of_step) if one.cpu else "",
        "memory": _size(one.peak),
        "mapped": _size(one.mapped),
        "state": _size(one.stored),
        "to Parquet": f"{one.stored / one.parquet:.1f}×" if one.parquet else "",
    }


def _file(part: str) -> str:
    return part.removeprefix(CURVES) + ".svg"


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms"


def _rounded(value: float) -> str:
    """To three digits."""
    return f"{float(f'{value:.3g}'):,.0f}"


def _size(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size else ""
