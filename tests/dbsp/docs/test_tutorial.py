"""The tutorial, from its first block to its last, prints what it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main
from dbsp.docs.site import OWN
from tests.architecture.imports import ROOT
from tests.dbsp.testing.plugged import run_with_plugin

pytest_plugins = ["pytester"]

TEXT = (OWN / "tutorial.md").read_text(encoding="utf-8")


def blocks() -> Iterator[tuple[str, str]]:
    """What is to be done with each fenced block, and the block."""
    for found in re.finditer(r"(?:<!-- (.*?) -->\n)?```\w*\n(.*?)```\n", TEXT, re.DOTALL):
        assert found[1], f"what is to be done with this block? {found[2]}"
        yield found[1], found[2]


def run(commands: str) -> str:
    output = ""
    for line in commands.splitlines():
        _, *arguments = shlex.split(line)
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        output += done.stdout
    return output


def do(what: str, block: str, printed: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What it prints. printed: by the block before."""
    verb, _, name = what.partition(" ")
    if verb in ("file", "append"):
        with Path(name).open("w" if verb == "file" else "a", encoding="utf-8") as file:
            file.write(block)
    elif verb == "run":
        return run(block)
    elif verb == "python":
        exec(compile(block, "tutorial.md", "exec"), {})
        return capsys.readouterr().out
    elif verb == "prints":
        assert [line.rstrip() for line in printed.splitlines()] == block.splitlines()
    else:
        assert verb == "ends", what
        assert printed.endswith(block), printed
    return ""


@pytest.mark.spark
@pytest.mark.slow
def test_every_block(pytester, monkeypatch, capsys, spark):
    monkeypatch.chdir(pytester.path)
    printed = ""
    for what, block in blocks():
        printed = do(what, block, printed, capsys)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for options in ((), ("--dbsp-accept",)):
        failed = 0 if options else 1
        run_with_plugin(pytester, *options).assert_outcomes(passed=2 - failed, failed=failed)
    run_with_plugin(pytester).assert_outcomes(passed=2)


def test_every_block_says_what_it_is_for():
    verbs = [what.split()[0] for what, _ in blocks()]
    assert set(verbs) == {"file", "append", "run", "python", "prints", "ends"}
    assert verbs.count("prints") >= 5
