"""However a command ends, a person sees one line, and a script an exit status that says which end it was."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import dbsp
from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from tests.effort import QUICK

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]
PROGRAM = """
CREATE TABLE t (x BIGINT) USING json OPTIONS (path '{0}/in');
CREATE VIEW v AS SELECT count(*) AS n FROM t;
"""


@pytest.fixture(scope="module")
def program(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled already, with one row to read."""
    directory = tmp_path_factory.mktemp("ends")
    (directory / "in").mkdir()
    (directory / "in" / "1.json").write_text('{"x": 1}\n')
    (directory / "p.sql").write_text(PROGRAM.format(directory))
    return directory / "p.sql"


@pytest.fixture
def run(program: Path) -> Iterator[subprocess.Popen[str]]:
    """`dbsp run`, which goes on until it is ended."""
    command = [sys.executable, "-m", "dbsp.commands.cli", "run", str(program), "--output", "json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
        yield process
        process.kill()


SECONDS = 90


def first_change(run: subprocess.Popen[str]) -> None:
    """Waits for it; a run that doesn't come to it is killed, and what it said is shown."""
    assert run.stdout is not None
    too_late = threading.Timer(SECONDS, run.kill)
    too_late.start()
    try:
        line = run.stdout.readline()
    finally:
        too_late.cancel()
    if line != '{"step": 1, "view": "v", "row": {"n": 1}, "weight": 1}\n':
        run.kill()
        rest, said = run.communicate(timeout=SECONDS)
        pytest.fail(f"no first change within {SECONDS} s; stdout: {line + rest!r}, stderr: {said}")


def java_of(process: int) -> list[int]:
    """The children of a process that are Java."""
    found = []
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        with suppress(OSError):  # one of other kinds has ended since
            if b"java" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def ended(run: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = run.communicate(timeout=SECONDS)
    return run.returncode, said


STOPPING = "stopping after this step; Ctrl-C again to stop at once\n"
AS_IT_WAS = "a state directory is as its last committed step left it\n"


# a start of Spark each: the long profile tries all
THOROUGH = settings.default.max_examples > QUICK


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, *[signal.SIGINT] * THOROUGH], ids=lambda n: n.name)
def test_a_signal_ends_a_run_after_its_step(run: subprocess.Popen[str], number: signal.Signals) -> None:
    first_change(run)
    run.send_signal(number)
    assert ended(run) == (0, STOPPING)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, *[signal.SIGTERM] * THOROUGH], ids=lambda n: n.name)
def test_signals_that_insist_end_it_in_one_line_more(
    run: subprocess.Popen[str], number: signal.Signals
) -> None:
    """However late they come: while it stops, while it closes, while Python shuts down."""
    first_change(run)
    while run.poll() is None:
        run.send_signal(number)
        time.sleep(0.15)
    status, said = ended(run)
    if said == STOPPING:  # it had closed before the second
        assert status in (0, -number)
        return
    word = {signal.SIGTERM: "terminated", signal.SIGINT: "interrupted"}[number]
    assert status in (128 + number, -number)
    assert said == f"{STOPPING}{word}; {AS_IT_WAS}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")], ids=["TERM", "INT"]
)
def test_a_signal_while_spark_starts_ends_it_at_once(
    run: subprocess.Popen[str], number: signal.Signals, word: str
) -> None:
    until = time.monotonic() + 60
    while not java_of(run.pid) and time.monotonic() < until:
        time.sleep(0.05)
    run.send_signal(number)
    assert ended(run) == (128 + number, f"{word}; {AS_IT_WAS}")


@pytest.mark.slow
def test_a_jvm_that_is_killed_is_one_line(run: subprocess.Popen[str]) -> None:
    first_change(run)
    (java,) = java_of(run.pid)
    os.kill(java, signal.SIGKILL)
    status, said = ended(run)
    assert status == 1
    assert said.startswith("Spark's JVM has ended (killed, or out of memory)"), said
    assert said.count("\n") == 1


def dies(directory: Path, times: int) -> Any:
    """A function whose worker dies so often when it is called."""

    @dbsp.udf(returns="BIGINT", arguments=["BIGINT"], style="values")
    def deadly(x: int) -> int:
        for place in range(times):
            try:
                (directory / str(place)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * x

    return deadly


def runs_of_a_task(spark: Any) -> int:
    """Before its job fails: of `local[2]` one, of `local[2,2]` two, as `dbsp run` starts it."""
    found = re.search(r",\s*(\d+)\]", spark.sparkContext.master)
    return int(found[1]) if found else 1


TEXT = "CREATE TABLE t (x BIGINT); CREATE VIEW v AS SELECT deadly(x) AS y FROM t"


def test_a_step_whose_worker_died_runs_once_more(spark: Any, tmp_path: Path) -> None:
    with Pipeline(sql=TEXT, spark=spark, functions=[dies(tmp_path, 1)], state=tmp_path / "state") as pipeline:
        pipeline.insert("t", [(1,), (2,)])
        assert pipeline.step()["v"].rows() == [({"y": 2}, 1), ({"y": 4}, 1)]
        assert pipeline.last_step == 1
    assert (tmp_path / "0").exists()


def test_a_step_whose_workers_die_fails_and_can_be_tried_again(spark: Any, tmp_path: Path) -> None:
    deadly = dies(tmp_path, 2 * runs_of_a_task(spark))
    with Pipeline(sql=TEXT, spark=spark, functions=[deadly], state=tmp_path / "state") as pipeline:
        pipeline.insert("t", [(1,)])
        with pytest.raises(
            Error, match=r"^step 1: Spark failed: .*Python worker exited unexpectedly"
        ) as raised:
            pipeline.step()
        assert "\n" not in str(raised.value)
        assert pipeline.last_step == 0
        assert pipeline.step()["v"].rows() == [({"y": 2}, 1)]
