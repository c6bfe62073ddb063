"""What a worker does of what it is asked, in this process; `test_process.py` starts one."""

from __future__ import annotations

import io
import os
import pickle
import threading
from typing import Any

import pytest

from dbsp.circuits.errors import DataError
from dbsp.queries.beside import worker
from dbsp.queries.beside.process import LONG, Bug


def double(spark: Any, number: int) -> int:
    return 2 * number


def refuse(spark: Any) -> None:
    raise DataError("not so")


def served(monkeypatch: pytest.MonkeyPatch, *asked: Any, quiet: float | None = None) -> list[Any]:
    monkeypatch.setattr(worker, "session", lambda *_, **__: object())
    reading, writing = os.pipe()
    for one in asked:
        said = pickle.dumps(one)
        os.write(writing, LONG.pack(len(said)) + said)
        break  # one at a time, as `process.py` asks
    if quiet is None:
        os.close(writing)
    answers = io.BytesIO()
    with os.fdopen(reading, "rb", 0) as given:
        worker.serve(given, answers, 512, quiet)
    if quiet is not None:
        os.close(writing)
    answers.seek(0)
    found = []
    while size := answers.read(LONG.size):
        found.append(pickle.loads(answers.read(LONG.unpack(size)[0])))
    return found


def test_it_answers_until_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert served(monkeypatch, (double, (4,))) == [(8, None, True)]
    ((value, error, goes_on),) = served(monkeypatch, (refuse, ()))
    assert value is None and str(error) == "not so" and goes_on


def test_it_ends_when_it_is_asked_nothing_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    assert served(monkeypatch, (double, (4,)), quiet=0.01) == [(8, None, True)]


class NotPickled(Exception):
    """Of what it holds there is no pickle."""

    def __init__(self) -> None:
        super().__init__("held", threading.Lock())


def assume(spark: Any) -> None:
    raise AssertionError("Project: types [a] under a schema of [b]")


def hold(spark: Any) -> None:
    raise NotPickled


def held(spark: Any) -> Any:
    return lambda: None


def forget(spark: Any) -> None:
    raise MemoryError


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((assume, ()), "AssertionError: Project: types [a] under a schema of [b]"),
        ((double, ()), "TypeError: double() missing 1 required positional argument: 'number'"),
        ((hold, ()), "NotPickled: ('held', "),
        ((held, ()), "Can't "),
        ("x", "ValueError: not enough values to unpack"),
    ],
)
def test_a_bug_is_told_and_ends_nothing(monkeypatch: pytest.MonkeyPatch, asked: Any, said: str) -> None:
    ((value, error, goes_on),) = served(monkeypatch, asked)
    assert value is None and goes_on
    assert isinstance(error, Bug) and said in str(error) and str(error).startswith("a bug of dbsp")
    assert "worker.py" in error.__notes__[0]


def test_where_there_is_no_memory_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemoryError):
        served(monkeypatch, (forget, ()))
