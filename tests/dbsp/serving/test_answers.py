"""What a client is told, and what it isn't."""

from __future__ import annotations

import json
import logging

import pytest

from dbsp.circuits.errors import DataError, Error, NotKept, ProgramError, StateError
from dbsp.queries.beside.process import Bug
from dbsp.serving.answers import Refused, answer_to
from dbsp.serving.formats import NotAcceptable
from dbsp.views.changes import UnknownView


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DataError("x"), 400),
        (ProgramError("x"), 400),
        (NotAcceptable("x"), 406),
        (UnknownView("x"), 404),
        (NotKept("x"), 410),
        (StateError("x"), 503),
        (Refused(413, "x"), 413),
        (Error("x"), 422),
    ],
)
def test_the_status(error: Error, status: int) -> None:
    answer = answer_to(error, "/secret/place")
    assert answer.status_code == status and json.loads(answer.body) == {"error": "x"}


def test_no_path_is_told() -> None:
    answer = answer_to(StateError("/secret/place/commits/1: damaged"), "/secret/place")
    assert json.loads(answer.body) == {"error": "the state/commits/1: damaged"}


def test_a_bug_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "dbsp"):
        answer = answer_to(KeyError("/secret/place"), "/secret/place")
    said = json.loads(answer.body)["error"]
    assert answer.status_code == 500 and "secret" not in said
    assert said.rsplit(" ", 1)[1] in caplog.text and "KeyError" in caplog.text


def test_a_bug_in_a_query_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    """Its text is of the query, which who asked has written."""
    bug = Bug("a bug of dbsp, or of a library: KeyError: 'x' of /secret/place")
    bug.add_note("Traceback of where it was")
    with caplog.at_level(logging.ERROR, "dbsp"):
        answer = answer_to(bug, "/secret/place")
    said = json.loads(answer.body)["error"]
    assert answer.status_code == 500 and "KeyError: 'x' of the state; the server's log has it under" in said
    (record,) = caplog.records
    assert said.rsplit(" ", 1)[1] in record.getMessage()
    # not of caplog.text: PySpark's formatter, once a test has set it, leaves notes out
    assert record.exc_info and record.exc_info[1] is bug
