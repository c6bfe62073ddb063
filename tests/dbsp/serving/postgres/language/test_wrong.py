"""What is wrong has a number for clients of PostgreSQL, and is the client's fault for those of HTTP."""

from __future__ import annotations

from dbsp.serving.answers import said_of
from dbsp.serving.postgres.language.wrong import BadCopy, Wrong


def test_it_is_said_as_it_is() -> None:
    error = Wrong("0A000", "say FORMAT csv")
    assert (error.code, said_of(error, "/x")) == ("0A000", (400, "say FORMAT csv"))
    assert BadCopy("row 1").code == "22P04"
