"""What goes wrong after a step is true: the step stays, and its changes are with the error."""

from __future__ import annotations

import pytest

import dbsp
from dbsp.errors import CallbackError, DeliveryError
from tests.dbsp.build import pipeline


def test_they_are_errors_of_ours_by_their_public_names() -> None:
    assert (dbsp.CallbackError, dbsp.DeliveryError) == (CallbackError, DeliveryError)
    assert issubclass(CallbackError, dbsp.Error)
    assert issubclass(DeliveryError, dbsp.Error)


def test_a_callback_s_step_is_made_and_its_changes_are_there() -> None:
    def callback(step: int, changes: object) -> None:
        raise ValueError("no")

    with pipeline() as p:
        p.subscribe("counts", callback)
        p.insert("votes", [(1, 1)])
        with pytest.raises(CallbackError, match="no") as raised:
            p.step()
        assert p.last_step == 1
        assert (raised.value.step, raised.value.view) == (1, "counts")
        assert raised.value.changes is not None
        assert raised.value.changes["counts"].rows() == [({"story_id": 1, "n": 1}, 1)]


def test_what_was_not_written_is_named() -> None:
    error = DeliveryError("not written", 3, "sink")
    assert (str(error), error.step, error.sink, error.changes) == ("not written", 3, "sink", None)
