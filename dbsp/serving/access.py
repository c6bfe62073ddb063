"""Who may do what: anyone who can connect may read; what changes something takes the token."""

from __future__ import annotations

import hmac
import os
import secrets

from starlette.requests import Request

from dbsp.serving.answers import Refused

VARIABLE = "DBSP_TOKEN"
# names of this machine: a page of another name, which a browser was led here by, is turned away
LOCAL = ("localhost", "127.0.0.1", "::1")


class Access:
    """token: None: the environment's, or a new one."""

    def __init__(self, token: str | None = None) -> None:
        given = token or os.environ.get(VARIABLE)
        self.is_new = not given
        self.token = given or secrets.token_urlsafe(24)

    def check(self, request: Request) -> None:
        """Raises Refused."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if kind.lower() != "bearer" or not known:
            raise Refused(
                401,
                "this changes something: send the header `Authorization: Bearer TOKEN`; the token is what "
                f"`dbsp serve` printed, or {VARIABLE} of its environment",
            )
