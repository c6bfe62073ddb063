"""Which form a client gets."""

from __future__ import annotations

import pytest

from dbsp.serving.formats import ARROW, CSV, JSON, NotAcceptable, form_of

OFFERED = (JSON, CSV, ARROW)


@pytest.mark.parametrize(
    ("asked", "accept", "form"),
    [
        (None, "*/*", JSON),
        (None, "", JSON),
        (None, "text/html,application/xhtml+xml,*/*;q=0.8", JSON),
        (None, "text/csv", CSV),
        (None, "text/csv;q=0.5, application/vnd.apache.arrow.stream", ARROW),
        (None, "TEXT/CSV; charset=utf-8", CSV),
        (None, "text/csv;q=0, application/json;q=0.1", JSON),
        ("csv", "application/json", CSV),
        ("ARROW", "*/*", ARROW),
    ],
)
def test_the_form(asked: str | None, accept: str, form: str) -> None:
    assert form_of(asked, accept, OFFERED) == form


@pytest.mark.parametrize(
    ("asked", "accept"), [("xml", "*/*"), (None, "image/png"), (None, "text/csv;q=x"), ("parquet", "*/*")]
)
def test_none_that_is_offered(asked: str | None, accept: str) -> None:
    with pytest.raises(NotAcceptable, match="there are: "):
        form_of(asked, accept, OFFERED)
