"""Golden files: what a program's views change by under a replay file, as a person has once read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dbsp.commands.replays.replay import played
from dbsp.commands.shown.listing import listing
from dbsp.commands.step import compare, write_lines
from dbsp.pipeline.udf import Function
from dbsp.testing.programs import ProgramLike, in_process, load, path_of, read_text
from dbsp.testing.setting import SETTING

# of a difference; more of it nobody reads
_SHOWN = 80


def assert_replay(
    program: ProgramLike,
    deltas: str | Path,
    expected: str | Path,
    *,
    define: Mapping[str, str] | None = None,
    functions: Sequence[Function] = (),
    output: str = "json",
    changelog: str = "retract",
    partitions: int | None = None,
) -> None:
    """The views change as the file says, which `pytest --dbsp-accept` writes.

    Examples:
        >>> votes = examples / "votes"
        >>> assert_replay(votes / "program.sql", votes / "deltas.sql", votes / "expected.jsonl")

    deltas: a replay file, SQL if it is named .sql. output, changelog: as of `dbsp step`. Raises Error where
    the program or the deltas are wrong; sinks get nothing.
    """
    __tracebackhide__ = True
    file, text = path_of(expected), read_text(deltas)
    with in_process(load(program, define, functions), partitions) as pipeline:
        lines = list(played(pipeline, text, str(deltas), listing(pipeline, output, changelog)))
    if SETTING.accept:
        _accept(lines, file)
    elif not file.exists():
        raise AssertionError(f"{file}: isn't there; write it with `pytest --dbsp-accept`, and read it")
    elif difference := compare(lines, str(file)):
        raise AssertionError(f"{_shortened(difference)}if this is right, `pytest --dbsp-accept` writes it")


def _accept(lines: list[str], file: Path) -> None:
    if not file.exists() or compare(lines, str(file)):
        write_lines(lines, str(file))
        SETTING.accepted.append(file)


def _shortened(difference: str) -> str:
    lines = difference.splitlines(keepends=True)
    left = len(lines) - _SHOWN
    return "".join(lines[:_SHOWN]) + (f"... and {left} lines more\n" if left > 0 else "")
