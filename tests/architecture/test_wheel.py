"""The wheel: one name, whatever else is installed, and a step of it runs in processes of Spark's own.

Two distributions on PyPI own `sql` and `circuits`; a tiny one here stands for both.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.imports import ROOT, sources

FOREIGN = "MINE = 'of another distribution'\n"


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: an earlier build in the tree would lend it files that are gone."""
    copy, built = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for folder in ("circuits", "sql", "dbsp"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-index", "--no-deps")
    run(*pip, "--no-build-isolation", "--wheel-dir", built, copy, cwd=built)
    (found,) = built.glob("dbsp-*.whl")
    return found


def foreign(directory: Path) -> Path:
    """A distribution that owns `sql` and `circuits`."""
    made = directory / "magic-1.0-py3-none-any.whl"
    about = "magic-1.0.dist-info"
    files = {
        "sql/__init__.py": FOREIGN,
        "circuits/__init__.py": FOREIGN,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: magic\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD")))
    return made


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel lies beside the other one."""
    folder = tmp_path_factory.mktemp("site")
    others = foreign(tmp_path_factory.mktemp("foreign"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps")
    run(*pip, "--no-compile", "--target", folder, others, wheel, cwd=folder)
    return folder


@pytest.mark.slow
def test_the_wheel_has_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"dbsp", "dbt"}
    macros = Path("dbsp", "declared", "dbt", "include")
    registered = macros.with_name("registered")
    adapter = {str(file.relative_to(ROOT / registered)) for file in (ROOT / registered).rglob("*.py")}
    assert {name for name in names if name.startswith("dbt/")} == adapter
    assert {name for name in names if name.startswith(f"{macros}/")} == {
        str(file.relative_to(ROOT)) for file in (ROOT / macros).rglob("*.*")
    }
    assert "dbsp/py.typed" in names
    java = {file.name for top in ("dbsp", "sql", "circuits") for file in (ROOT / top).rglob("*.java")}
    assert {Path(name).name for name in names if name.endswith(".java")} == java
    page = Path("dbsp", "serving", "page", "static")
    assert {name for name in names if name.startswith(f"{page}/")} == {
        str(page / file.name) for file in (ROOT / page).iterdir()
    }
    there = {
        str(file if file.parts[0] == "dbsp" else Path("dbsp", file))
        for file in sources()
        if registered not in file.parents
    }
    assert {name for name in names if name.endswith(".py")} == there | adapter


@pytest.mark.slow
def test_what_a_user_writes_is_type_checked_against_the_wheel(site: Path, tmp_path: Path) -> None:
    """Outside the tree, without its configuration: the types are the wheel's, by its py.typed."""
    shutil.copy(ROOT / "tests" / "architecture" / "consumer.py", tmp_path)
    check = (sys.executable, "-m", "mypy", "--strict", "--config-file=", "consumer.py")
    assert run(*check, cwd=tmp_path, PYTHONPATH=str(site)).startswith("Success")


PROGRAM = """\
CREATE TABLE wanted (module STRING);
CREATE FUNCTION file_of(module STRING) RETURNS STRING LANGUAGE PYTHON AS $$
import sys
__import__(module)
return sys.modules[module].__file__
$$;
CREATE VIEW found AS
SELECT xpath_string('<m>' || module || '</m>', 'm') AS module, file_of(module) AS file FROM wanted;
"""
MODULES = ("circuits", "dbsp.circuits.steps.step", "sql")


@pytest.mark.spark
def test_a_step_runs_beside_a_distribution_of_the_same_names(site: Path, tmp_path: Path) -> None:
    """The first run compiles the program and steps in workers, with our Java; the second knows it."""
    environment = {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "program.sql").write_text(PROGRAM)
    rows = [json.dumps({"table": "wanted", "row": {"module": name}}) for name in MODULES]
    (tmp_path / "deltas.jsonl").write_text("\n".join(rows))
    step = (site / "bin" / "dbsp", "step", "program.sql", "deltas.jsonl")
    first = run(*step, "--runner", "spark", cwd=tmp_path, **environment)
    files = {row["module"]: row["file"] for row in (json.loads(line)["row"] for line in first.splitlines())}
    assert files == {
        "circuits": f"{site}/circuits/__init__.py",
        "dbsp.circuits.steps.step": f"{site}/dbsp/circuits/steps/step.py",
        "sql": f"{site}/sql/__init__.py",
    }
    assert run(*step, cwd=tmp_path, **environment) == first
    assert (site / "sql" / "__init__.py").read_text() == FOREIGN
