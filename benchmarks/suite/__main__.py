"""Run the suite: figures as JSON, a table and curves, all beside this package.

    make bench                                 or   python -m benchmarks.suite
    python -m benchmarks.suite --only q9 --share 0.2 --flink ~/flink/bin/python

Writes `benchmarks/results.json`, `benchmarks/RESULTS.md` and `benchmarks/curves/`; what isn't run this time
keeps its figures of the last time on the same machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import scale
from benchmarks.suite.measurement import Measurement, load, save
from benchmarks.suite.report import curves, document
from benchmarks.suite.subjects import Effort, subjects

OUT = Path(__file__).parents[1]
LIMIT = 600  # seconds of one subject


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description=__doc__)
    parser.add_argument("--only", default="", help="subjects whose names have this in them")
    parser.add_argument("--share", type=float, default=1.0, help="of the steps (default: all)")
    parser.add_argument("--most", type=int, default=Effort.most, help="rows on the curve of state")
    parser.add_argument("--scale", type=float, action="append", help="of TPC-H (default: 0.1)")
    parser.add_argument(
        "--flink", type=Path, help="an interpreter that has apache-flink: Flink is run beside us"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="directory (default: benchmarks/)")
    parser.add_argument("--list", action="store_true", help="names of subjects; runs nothing")
    options = parser.parse_args(arguments)
    scales = tuple(options.scale or Effort.scales)
    effort = Effort(options.share, options.most, scales)
    names = [name for name in subjects(effort, options.flink) if options.only in name]
    if options.list or not names:
        print("\n".join(names) or f"no subject has '{options.only}' in its name; --list names them all")
        return 0 if names else 2
    given = json.dumps(
        {"share": effort.share, "most": effort.most, "scales": scales, "flink": str(options.flink or "")}
    )
    command = shlex.join(
        ["python", "-m", "benchmarks.suite", *(sys.argv[1:] if arguments is None else arguments)]
    )
    began, failed = time.monotonic(), []
    measured: dict[str, list[Measurement]] = {}
    for name in names:
        at = time.monotonic()
        found = _measured(name, given)
        if found is None:
            failed.append(name)
        else:  # what is there so far can be looked at
            measured[name] = found
            report(options.out, measured, command)
        print(f"{time.monotonic() - at:7.1f} s  {name}{'' if found is not None else ': failed'}", flush=True)
    print(f"{time.monotonic() - began:7.1f} s  in all; see {options.out / 'RESULTS.md'}")
    return 1 if failed else 0


def report(out: Path, measured: dict[str, list[Measurement]], command: str) -> None:
    """measured: by subject. What isn't measured this time is of the last time."""
    results = out / "results.json"
    new = [each for found in measured.values() for each in found]
    known = {_work(each): each for each in (load(results)[1] if results.exists() else [])}
    known |= {_work(each): each for each in new}
    order = {part: n for n, part in enumerate(dict.fromkeys(each.part for each in known.values()))}
    all_ = sorted(known.values(), key=lambda each: order[each.part])
    here = machine(command)
    save(results, here, all_)
    (out / "RESULTS.md").write_text(document(here, all_) + scale.section(results))
    folder = out / "curves"
    folder.mkdir(exist_ok=True)
    for file, text in {**curves(all_), scale.CURVE: scale.curve(results)}.items():
        (folder / file).write_text(text)


def machine(command: str) -> dict[str, str]:
    """What the figures are of."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    packages = ("pyspark", "pyarrow", "numpy", "duckdb")
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory / 2**30:.0f} GiB of memory",
        "versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{each} {version(each)}" for each in packages)]
        ),
    }


def _measured(name: str, effort: str) -> list[Measurement] | None:
    """By a process of its own; None: it failed."""
    with TemporaryDirectory(prefix="dbsp-bench-") as directory:
        file = Path(directory, "measured.jsonl")
        command = [sys.executable, "-m", "benchmarks.suite.child", name, str(file), effort]
        try:
            done = subprocess.run(command, check=False, timeout=LIMIT, stdout=sys.stderr)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode or not file.exists():
            return None
        return [Measurement.read(json.loads(line)) for line in file.read_text().splitlines()]


def _work(measured: Measurement) -> tuple[str, str, str]:
    return measured.part, measured.what, measured.who


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if "model name" in line] if info.exists() else []
    return names[0].split(":", 1)[1].strip() if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
