"""A project as `dbsp init` writes it, and the command line in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbsp.commands.cli import main


def dbsp(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `init`ed directory, which is the current one."""
    monkeypatch.chdir(tmp_path)
    assert dbsp("init", "p").exit_code == 0
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"
