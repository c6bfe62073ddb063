"""What README.md and the guides show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.testing.plugged import run_with_plugin

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
SHOWN = [ROOT / "README.md", *sorted((ROOT / "dbsp" / "docs" / "guides").glob("*.md"))]
TEXT = "\n".join(file.read_text() for file in SHOWN)


def block(marker: str) -> str:
    """The fenced block after an HTML comment."""
    (found,) = {*re.findall(rf"<!-- {marker} -->\n```\w*\n(.*?)```", TEXT, re.DOTALL)}
    return str(found)


@pytest.mark.parametrize("example", ["orders/program.sql", "debezium/replica.sql"])
def test_the_program_is_the_example(example):
    program = (ROOT / "examples" / example).read_text()
    shown = block(f"program of examples/{example.split('/')[0]}")
    assert shown == re.sub(r"^--.*\n", "", program, flags=re.MULTILINE)


@pytest.mark.spark
def test_the_output_is_the_examples():
    orders = ROOT / "examples" / "orders"
    files = [str(orders / "program.sql"), str(orders / "deltas.jsonl")]
    result = CliRunner().invoke(main, ["step", *files, "--output", "text"])
    assert (result.exit_code, result.output) == (0, block("output of examples/orders"))


@pytest.mark.spark
def test_the_files_are_read_and_written(tmp_path, monkeypatch, spark):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.sql").write_text(block("program of files"))
    (tmp_path / "in/orders").mkdir(parents=True)
    (tmp_path / "in/orders/1.csv").write_text("id,country,amount\n1,UK,120.00\n2,FR,15.25\n")
    result = CliRunner().invoke(main, ["run", "program.sql", "--state", "state", "--once"])
    assert (result.exit_code, result.stderr) == (0, "")
    (totals,) = (tmp_path / "out/totals").rglob("*.json")
    assert sorted(totals.read_text().splitlines()) == [
        '{"country":"FR","total":15.25,"__op":"I"}',
        '{"country":"UK","total":120.00,"__op":"I"}',
    ]
    assert list((tmp_path / "out/large").rglob("*.parquet"))
    asked = CliRunner().invoke(main, ["query", "state", "SELECT * FROM turnover ORDER BY total"])
    assert [line.split() for line in asked.output.splitlines()[2:]] == [["FR", "15.25"], ["UK", "120.00"]]


@pytest.mark.spark
@pytest.mark.parametrize(("of", "changelog"), [("messages", "upsert"), ("a registry", "debezium")])
def test_the_messages_are_read_and_written(of, changelog, spark):
    compiled = compile_program(block(f"program of {of}"), session=spark)
    assert [compiled.tables["orders"].changelog, compiled.inserts[0].shape] == [changelog, "upsert"]


@pytest.mark.spark
@pytest.mark.parametrize("of", ["", " of functions"])
def test_the_python_prints_what_it_says(of, tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(block(f"python{of}"), "README.md", "exec"), {})
    assert capsys.readouterr().out == block(f"prints{of}")


@pytest.mark.spark
@pytest.mark.slow
def test_the_tests_pass(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for file in (ROOT / "examples/orders").iterdir():
        (pytester.path / file.name).write_text(file.read_text())
    pytester.makepyfile(test_orders=block("program of tests"))
    run_with_plugin(pytester).assert_outcomes(passed=3)
