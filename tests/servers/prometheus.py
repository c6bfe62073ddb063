"""Prometheus' own checker of metrics and rules."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.servers.missing import missing


def checked(what: str, given: str, path: Path | None = None) -> None:
    """`promtool check metrics` of the text, or `check rules` of a file that has it; skips without one."""
    program = shutil.which("promtool") or missing("Prometheus")
    if path is not None:
        path.write_text(given)
    files = [] if path is None else [str(path)]
    done = subprocess.run(
        [program, "check", what, *files], input=given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
