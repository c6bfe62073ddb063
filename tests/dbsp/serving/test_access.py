"""The token: given, of the environment, or new."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from dbsp.serving.access import Access
from dbsp.serving.answers import Refused


def request(authorization: str) -> Request:
    return Request({"type": "http", "headers": [(b"authorization", authorization.encode("latin-1"))]})


def test_where_the_token_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBSP_TOKEN", raising=False)
    first, second = Access(), Access()
    assert first.is_new and first.token != second.token and len(first.token) >= 32
    monkeypatch.setenv("DBSP_TOKEN", "of the environment")
    assert Access().token == "of the environment" and not Access().is_new
    assert Access("given").token == "given"


def test_who_has_it_may() -> None:
    Access("x").check(request("bearer x"))
    for wrong in ("", "x", "Basic x", "Bearer ", "Bearer é", "Bearer X"):
        with pytest.raises(Refused, match="DBSP_TOKEN") as refused:
            Access("x").check(request(wrong))
        assert refused.value.status == 401
