"""`dbsp pipeline init` writes the project of `spark-pipelines init`; what is wrong is one line."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.pipelines.init_cli import init as theirs

from dbsp.commands.cli import main


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


def test_init_writes_the_same_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(main, ["pipeline", "init", "--name", "shop"])
    assert said.exit_code == 0
    assert said.output.splitlines()[-1] == "cd 'shop' && dbsp pipeline run"
    ours = files(tmp_path / "shop")
    (tmp_path / "shop").rename(tmp_path / "ours")
    with contextlib.redirect_stdout(io.StringIO()):
        theirs("shop")
    assert ours == files(tmp_path / "shop")
    again = CliRunner().invoke(main, ["pipeline", "init", "--name", "shop"])
    assert (again.exit_code, "already exists" in again.output) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "PIPELINE_SPEC_FILE_NOT_FOUND"),
        (["dry-run", "--spec", "x.yml"], "PIPELINE_SPEC_FILE_DOES_NOT_EXIST"),
        (["run", "--full-refresh-all", "--refresh", "a"], "CONFLICTING_PIPELINE_REFRESH_OPTIONS"),
        (["watch", "--every", "now"], "'now' is no time"),
        (["run", "--py-files", "x.zip"], "x.zip'; give files .py, .zip or .egg"),
        (["run", "--properties-file", "x.conf"], "x.conf: No such file"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(main, ["pipeline", *arguments])
    assert said.exit_code in (1, 2)
    assert message in said.output
