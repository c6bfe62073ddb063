"""Every case of every note in papers/ comes out as the note says, line for line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbsp.circuits.errors import ProgramError
from dbsp.commands.cli import main
from dbsp.sql.compiler.load import load_program
from tests.papers.cases import Case, cases

NOTES = sorted((Path(__file__).parents[2] / "papers").glob("*.md"))
CASES = [case for note in NOTES for case in cases(note)]
# where in the circuit an operator stands is no claim of a note
NUMBER = re.compile(r"^\d+ ", re.MULTILINE)
KEY = re.compile(r"view (\S+) \(.*\)\n  stream key: (.*)\n")


def named(case: Case) -> str:
    return re.sub(r"\W+", "-", f"{case.note.removesuffix('.md')}-{case.heading}").strip("-")


def on_spark() -> Iterator[Any]:
    """All that run; beyond the first of each note they are slow."""
    for note in NOTES:
        running = [case for case in CASES if case.note == note.name and "changelog" in case.blocks]
        for i, case in enumerate(running):
            yield pytest.param(case, id=named(case), marks=[pytest.mark.slow] if i else [])


ON_SPARK = list(on_spark())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """run(command, *options) → (stdout, stderr) of `dbsp command program.sql` in a directory of its own; of a
    query it is what is asked.
    """
    monkeypatch.chdir(tmp_path)

    def invoke(command: str, *options: str) -> tuple[str, str]:
        of = [] if command == "query" else ["program.sql"]
        result = CliRunner().invoke(main, [command, *of, *options])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.stdout, result.stderr

    return invoke


def compile_error(case: Case, spark: Any) -> str:
    """'' for a program that compiles: it is in the cache then, so that commands start no session."""
    for name, text in case.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    Path("program.sql").write_text(case.text("program"), encoding="utf-8")
    if "deltas" in case.blocks:
        Path(case.deltas_name).write_text(case.text("deltas"), encoding="utf-8")
    try:
        if "program" in case.blocks:
            load_program(Path("program.sql"), session=spark)
    except ProgramError as error:
        return str(error).split("\n", 1)[0] + "\n"
    return ""


def same(case: Case, block: str, found: str) -> None:
    expected = case.text(block)
    if found != expected:
        line = case.blocks[block].line if block in case.blocks else case.line
        difference = difflib.unified_diff(
            expected.splitlines(keepends=True),
            found.splitlines(keepends=True),
            f"{case.note}:{line} ({block} of '{case.heading}')",
            "what happens",
        )
        pytest.fail("".join(difference), pytrace=False)


def steps_as_said(case: Case, run: Any, *options: str) -> None:
    stdout, stderr = run("step", case.deltas_name, "--output", "text", *options)
    same(case, "changelog", stdout)
    same(case, "error", stderr)


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_case_comes_out_as_the_note_says(case: Case, spark: Any, run: Any) -> None:
    error = compile_error(case, spark)
    if "query" in case.blocks:
        answer, error = run("query", case.text("query"))
        same(case, "answer", answer)
        same(case, "error", error)
        return
    if error or "deltas" not in case.blocks:
        same(case, "error", error)
    if not error and "check" in case.blocks:
        same(case, "check", NUMBER.sub("", run("check")[0]))
    if not error and "keys" in case.blocks:
        keys = KEY.findall(run("explain")[0])
        same(case, "keys", "".join(f"{view}: {key}\n" for view, key in keys))
    if not error and "deltas" in case.blocks:
        for partitions in ("1", "3"):
            steps_as_said(case, run, "--runner", "inline", "--partitions", partitions)


@pytest.mark.spark
@pytest.mark.parametrize("case", ON_SPARK)
def test_a_case_comes_out_as_the_note_says_on_spark(case: Case, spark: Any, run: Any) -> None:
    assert compile_error(case, spark) == ""
    steps_as_said(case, run, "--runner", "spark", "--partitions", "2")
