"""What README.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from dbsp.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def block(marker: str) -> str:
    """The fenced block after an HTML comment."""
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert found, marker
    return found[1]


def test_the_program_is_the_example():
    program = (ROOT / "examples/orders/program.sql").read_text()
    assert block("program of examples/orders") == re.sub(r"^--.*\n", "", program, flags=re.MULTILINE)


def test_the_output_is_the_examples():
    orders = ROOT / "examples" / "orders"
    files = [str(orders / "program.sql"), str(orders / "deltas.jsonl")]
    result = CliRunner().invoke(main, ["step", *files, "--output", "text"])
    assert (result.exit_code, result.output) == (0, block("output of examples/orders"))


def test_the_python_prints_what_it_says(tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "README.md", "exec"), {})
    assert capsys.readouterr().out == block("prints")
