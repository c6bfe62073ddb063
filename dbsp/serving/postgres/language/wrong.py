"""What a statement can't have, by PostgreSQL's number for it."""

from __future__ import annotations

from dbsp.serving.answers import Refused


class Wrong(Refused):
    """code: SQLSTATE."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(400, message)
        self.code = code


class BadCopy(Wrong):
    """What isn't COPY's format, or no value of its column."""

    def __init__(self, message: str) -> None:
        super().__init__("22P04", message)
