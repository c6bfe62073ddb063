"""dbt in an environment of its own, as it excludes libraries of ours: `python -m tests.servers.dbt` makes it.

What it doesn't have is this environment's: Spark, and the tree itself.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.missing import missing

TREE = Path(__file__).parents[2]
ROOT = TREE / "build" / "servers" / "dbt"
_PYTHON = ROOT / "bin" / "python"
_DONE = ROOT / "done"
_ANSWERING = Path(__file__).with_name("dbt_answering.py")
_PROFILES = """
shop:
  target: ours
  outputs:
    ours: {{type: dbsp, schema: ours, threads: {0}}}
    theirs: {{type: dbsp, schema: theirs, threads: {0}}}
"""
_PROJECT = "name: shop\nversion: '1.0'\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n"


def python() -> str:
    """Its interpreter; skips without one."""
    return str(_PYTHON) if _DONE.exists() else missing("dbt")


def write_project(folder: Path, files: dict[str, str], threads: int = 1) -> None:
    """files: by their paths in it."""
    written = {"dbt_project.yml": _PROJECT, "profiles.yml": _PROFILES.format(threads), **files}
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@dataclass
class Dbt:
    """A process in which dbt's commands run one after another, in one session of Spark."""

    process: subprocess.Popen[str]

    def __call__(self, *command: str) -> dict[str, tuple[str, str]]:
        """Of each node of the run its status and what is said of it."""
        return {name: (status, said) for name, status, said in self._ask({"command": command})}

    def sql(self, statement: str) -> list[Any]:
        """Its rows, sorted."""
        found: list[Any] = self._ask({"sql": statement})
        return found

    def _ask(self, what: object) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:  # which Spark writes to, too
            if line.startswith("answer "):
                return json.loads(line.removeprefix("answer "))
        raise AssertionError("dbt's process has ended")


@contextmanager
def dbt(folder: Path) -> Iterator[Dbt]:
    """For the project there."""
    environment = {**os.environ, "DBT_PROFILES_DIR": str(folder), "PYSPARK_PYTHON": python()}
    process = subprocess.Popen(
        [python(), "-P", str(_ANSWERING)],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Dbt(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def main() -> None:
    """The environment, unless it is there."""
    if _DONE.exists():
        return
    shutil.rmtree(ROOT, ignore_errors=True)
    extras = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = [each for each in extras["dbt"] if not each.startswith("pyspark")]
    subprocess.run([sys.executable, "-m", "venv", str(ROOT)], check=True)
    subprocess.run([str(_PYTHON), "-m", "pip", "install", "-q", *wanted], check=True)
    (own,) = ROOT.glob("lib/*/site-packages")
    others = sysconfig.get_path("purelib")
    (own / "others.pth").write_text(f"import site; site.addsitedir({others!r})\n")
    _DONE.touch()


if __name__ == "__main__":
    main()
