"""A Spark beside this process: it answers, ends when it must, and is followed by another."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.allowance import Allowance
from dbsp.circuits.errors import DataError, Ended, Error, TooMuch
from dbsp.queries.beside.process import EVALUATOR, Bug, _child, done

pytestmark = pytest.mark.spark

MOST = 512 << 20


def doing(function: Any, *arguments: Any, seconds: float = 400.0) -> Any:
    return Allowance(seconds, MOST).within(lambda: done(EVALUATOR, function, *arguments))()


def sum_of(spark: Any, *numbers: int) -> int:
    return int(spark.sql(f"SELECT {' + '.join(map(str, numbers))}").head()[0])


def told(spark: Any, name: str) -> str | None:
    return os.environ.get(name)


def refuse(spark: Any) -> None:
    raise DataError("not so")


def assume(spark: Any) -> None:
    raise AssertionError("not so at all")


def forget(spark: Any) -> None:
    raise MemoryError


def grow(spark: Any) -> Any:
    return spark.sql("SELECT collect_list(repeat('x', 100000)) FROM range(100000)").collect()


def sleep(spark: Any) -> None:
    time.sleep(1000)


def large(spark: Any) -> bytes:
    return bytes(MOST + 1)


def test_it_answers_and_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBSP_TOKEN", "a token")
    _child(EVALUATOR, MOST).end()  # one that was started before knows another environment
    assert doing(sum_of, 1, 2) == 3
    first = _child(EVALUATOR, MOST)
    assert doing(told, "DBSP_TOKEN") is None
    assert doing(told, "PATH") == os.environ["PATH"]
    with pytest.raises(DataError, match="not so"):
        doing(refuse)
    with pytest.raises(Bug, match="a bug of dbsp, or of a library: AssertionError: not so at all"):
        doing(assume)
    assert _child(EVALUATOR, MOST) is first
    first.process.kill()
    assert doing(sum_of, 2, 2) == 4
    assert _child(EVALUATOR, MOST) is not first


def test_what_takes_too_long_or_too_much_ends_it_and_nobody_else() -> None:
    asked = doing(sum_of, 1, 1), _child(EVALUATOR, MOST)
    with pytest.raises(Ended):
        doing(sleep, seconds=1)
    assert asked[1].ended
    with pytest.raises(TooMuch, match="may take 512 MB"):
        doing(large)
    with pytest.raises(TooMuch, match="Spark needs more than 512 MB"):
        doing(grow)
    assert doing(sum_of, 3, 3) == 6


def test_one_that_ends_each_time_is_said() -> None:
    with pytest.raises(Error, match="the Spark that evaluates queries has ended 2 times"):
        doing(forget)


PARENT = """
import os
from dbsp.queries.beside.process import EVALUATOR, _started
print(_started(EVALUATOR, 512).process.pid, flush=True)
os._exit(0)
"""


def test_it_ends_with_its_parent() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    stat = Path(f"/proc/{int(said)}/stat")
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        try:
            state = stat.read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":  # nobody waits for it where init doesn't
            return
        time.sleep(0.1)
    pytest.fail("it goes on")
