"""What a worker does of what it is asked, in this process; `test_process.py` starts one."""

from __future__ import annotations

import io
import os
import pickle
from typing import Any

import pytest

from dbsp.circuits.errors import DataError
from dbsp.queries.beside import worker
from dbsp.queries.beside.process import LONG


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


def test_other_faults_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError):
        served(monkeypatch, (double, ()))
