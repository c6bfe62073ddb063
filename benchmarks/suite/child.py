"""One subject, in this process: its measurements as JSON lines, appended to a file.

python -m benchmarks.suite.child NAME FILE EFFORT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.suite.subjects import Effort, subjects


def main(name: str, file: str, effort: str) -> None:
    """effort: as JSON, and where Flink is."""
    given = json.loads(effort)
    with_flink = Path(given["flink"]) if given["flink"] else None
    run = subjects(Effort(given["share"], given["most"], tuple(given["scales"])), with_flink)[name]
    with Path(file).open("a") as out:
        for measured in run():
            out.write(measured.line() + "\n")
            out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
